// Starts a kernel thread on another stack.

    .text
    .globl detrec_clone_on_stack

// i64 detrec_clone_on_stack(u64 flags, void* stack, u32* parent_tid, u32* child_tid, u64 tls, void* argument)
// The new thread calls detrec_thread_main(argument) on `stack` (16-byte aligned) and never returns.
detrec_clone_on_stack:
    mov %rcx, %r10
    sub $16, %rsi
    mov %r9, (%rsi)
    mov $56, %eax
    syscall
    test %rax, %rax
    jz 1f
    ret
1:  xor %ebp, %ebp
    pop %rdi
    add $8, %rsp
    call detrec_thread_main
    ud2

    .section .note.GNU-stack,"",@progbits
