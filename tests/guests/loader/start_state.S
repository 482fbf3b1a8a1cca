// What the kernel hands to a static program: argc at a 16-byte aligned rsp, argv, a NULL, the environment, a NULL, the
// auxiliary vector; general registers zero, direction flag clear, no x87 state in use, default MXCSR and x87 control.
// @args: first second
        .globl _start
        .text
        .macro fail_unless_zero register, code
        test \register, \register
        jnz fail_\code
        .endm
_start:
        mov %rsp, saved_rsp(%rip)
        mov %rax, saved_rax(%rip)
        pushfq
        pop saved_flags(%rip)
        // The general registers are all zero.
        mov saved_rax(%rip), %rax
        or %rbx, %rax
        or %rcx, %rax
        or %rdx, %rax
        or %rsi, %rax
        or %rdi, %rax
        or %rbp, %rax
        or %r8, %rax
        or %r9, %rax
        or %r10, %rax
        or %r11, %rax
        or %r12, %rax
        or %r13, %rax
        or %r14, %rax
        or %r15, %rax
        mov $2, %edi
        test %rax, %rax
        jnz exit
        // Alignment.
        mov saved_rsp(%rip), %rbx
        mov $3, %edi
        test $15, %bl
        jnz exit
        // argc is 3 and argv ends there.
        mov $4, %edi
        cmpq $3, (%rbx)
        jne exit
        mov $5, %edi
        cmpq $0, 32(%rbx)
        jne exit
        // The strings of argv lie one behind the other, above the vectors.
        mov $6, %edi
        mov 16(%rbx), %rax
        cmp %rbx, %rax
        jbe exit
        cmpl $0x73726966, (%rax)                // "firs"
        jne exit
        add $6, %rax
        cmp %rax, 24(%rbx)
        jne exit
        // Direction flag, trap flag, alignment check clear; interrupts on; bit 1 set.
        mov $7, %edi
        mov saved_flags(%rip), %rax
        and $0x40702, %eax
        cmp $0x202, %eax
        jne exit
        // MXCSR and x87 control word.
        mov $8, %edi
        stmxcsr scratch(%rip)
        cmpl $0x1f80, scratch(%rip)
        jne exit
        mov $9, %edi
        fnstcw scratch(%rip)
        cmpw $0x037f, scratch(%rip)
        jne exit
        mov $10, %edi
        fnstsw %ax
        test %ax, %ax
        jnz exit
        // The vector registers are zero.
        mov $11, %edi
        ptest %xmm0, %xmm0
        jnz exit
        ptest %xmm15, %xmm15
        jnz exit
        // After the environment: the auxiliary vector with AT_PAGESZ = 4096 somewhere and an end.
        mov $12, %edi
        lea 40(%rbx), %rsi
1:      lodsq
        test %rax, %rax
        jnz 1b
2:      lodsq
        mov %rax, %rcx
        lodsq
        test %rcx, %rcx
        jz exit
        cmp $6, %rcx
        jne 2b
        cmp $4096, %rax
        jne exit
        mov $1, %eax
        mov $1, %edi
        lea message(%rip), %rsi
        mov $(message_end - message), %edx
        syscall
        xor %edi, %edi
exit:   mov $231, %eax
        syscall
        .section .rodata
message:
        .ascii "start state as the kernel makes it\n"
message_end:
        .bss
        .balign 8
saved_rsp:      .quad 0
saved_rax:      .quad 0
saved_flags:    .quad 0
scratch:        .quad 0
        .section .note.GNU-stack, "", @progbits
