// Switches engine stacks.

    .text
    .globl detrec_switch_stack, detrec_begin_on_stack

// void detrec_switch_stack(u64* save_sp, u64 to_sp)
// Keeps what the ABI says calls keep, and goes on where `to_sp` was saved.
detrec_switch_stack:
    push %rbx
    push %rbp
    push %r12
    push %r13
    push %r14
    push %r15
    mov %rsp, (%rdi)
    mov %rsi, %rsp
    pop %r15
    pop %r14
    pop %r13
    pop %r12
    pop %rbp
    pop %rbx
    ret

// Where a new thread begins: rbx is its KernelThread.
detrec_begin_on_stack:
    mov %rbx, %rdi
    xor %ebp, %ebp
    call detrec_thread_main
    ud2

    .section .note.GNU-stack,"",@progbits
