// A system call that cannot sleep over a signal; the way into and out of the host handler.

    .text
    .globl detrec_interruptible, detrec_host_handler, detrec_signal_return
    .globl detrec_window_begin, detrec_window_syscall, detrec_window_end
    .globl detrec_window_not_started, detrec_window_restart

// i64 detrec_interruptible(const SignalState*, long nr, u64 a0 .. a5)
//
// Between detrec_window_begin and detrec_window_syscall a host handler that queues a deliverable signal moves rip to
// detrec_window_not_started. The handlers have SA_RESTART: rip at detrec_window_syscall with rcx = detrec_window_end
// (which only the executed instruction sets) is a call that the kernel is about to restart.
detrec_interruptible:
    push %rbx
    mov %rdi, %rbx
    mov %rsi, %rax
    mov %rdx, %rdi
    mov %rcx, %rsi
    mov %r8, %rdx
    mov %r9, %r10
    mov 16(%rsp), %r8
    mov 24(%rsp), %r9
detrec_window_begin:
    mov (%rbx), %rcx          // blocked
    not %rcx
    test %rcx, 8(%rbx)        // pending
    jnz detrec_window_not_started
    xor %ecx, %ecx
detrec_window_syscall:
    syscall
detrec_window_end:
    pop %rbx
    ret
detrec_window_not_started:
    mov $-513, %rax           // kERestartNoIntr
    jmp detrec_window_end
detrec_window_restart:
    mov $-512, %rax           // kERestartSys
    jmp detrec_window_end

// The kernel enters handlers with the guest's AC: engine code does not keep to alignment.
detrec_host_handler:
    pushfq
    andq $~0x40000, (%rsp)
    popfq
    jmp detrec_on_signal

// The kernel's frame is at rsp.
detrec_signal_return:
    mov $15, %eax             // rt_sigreturn
    syscall

    .section .note.GNU-stack,"",@progbits
