// A static program linked at a fixed address far above 2 GiB: calls, returns, rip-relative operands, jump tables and a
// callback through a register all have to work there.
        .globl _start
        .text
_start:
        lea table(%rip), %rbx
        xor %r12d, %r12d
1:      movslq (%rbx,%r12,4), %rax
        add %rbx, %rax
        call *%rax
        add %eax, total(%rip)
        inc %r12d
        cmp $3, %r12d
        jne 1b
        cmpl $111, total(%rip)
        jne fail
        // A return address pushed by hand, a return that jumps.
        lea 2f(%rip), %rax
        push %rax
        ret
        ud2
        // An absolute 64-bit address.
2:      movabs $three, %rax
        lea three(%rip), %rcx
        cmp %rax, %rcx
        jne fail
        // The return address a call pushes is the address behind it.
        call 3f
3:      pop %rax
        lea 3b(%rip), %rcx
        cmp %rax, %rcx
        jne fail
        // Operands with an immediate behind the displacement.
        cmpb $0x5a, byte_value(%rip)
        jne fail
        addq $0x12345, wide(%rip)
        cmpq $0x12346, wide(%rip)
        jne fail
        push wide(%rip)
        pop other(%rip)
        cmpq $0x12346, other(%rip)
        jne fail
        call *pointer(%rip)
        cmp $1, %eax
        jne fail
        mov $1, %eax
        mov $1, %edi
        lea message(%rip), %rsi
        mov $(message_end - message), %edx
        syscall
        xor %edi, %edi
        mov $231, %eax
        syscall
fail:   mov $1, %edi
        mov $231, %eax
        syscall
one:    mov $1, %eax
        ret
two:    mov $10, %eax
        ret $0
three:  mov $100, %eax
        rep ret
        .section .rodata
        .balign 4
table:  .long one - table, two - table, three - table
message:
        .ascii "code above two gigabytes\n"
message_end:
        .data
byte_value:     .byte 0x5a
        .balign 8
total:  .quad 0
wide:   .quad 1
other:  .quad 0
pointer:        .quad one
        .section .note.GNU-stack, "", @progbits
