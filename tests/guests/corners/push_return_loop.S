// A loop made only of pushes and returns: 300,000 of them, through three targets in turn, with flags that must live.
        .globl main
        .text
main:
        push %rbx
        mov $100000, %ebx
        lea first(%rip), %r12
        lea second(%rip), %r13
        lea third(%rip), %r14
        xor %eax, %eax
        push %r12
        ret
first:
        add $1, %eax
        stc
        push %r13
        ret
second:
        adc $0, %eax
        cmp %eax, %eax
        push %r14
        ret
third:
        jne wrong
        dec %ebx
        jz done
        push %r12
        ret
wrong:
        mov $1, %eax
        pop %rbx
        ret
done:
        lea format(%rip), %rdi
        mov %eax, %esi
        mov %eax, %ebx
        xor %eax, %eax
        call printf@PLT
        xor %eax, %eax
        cmp $200000, %ebx
        setne %al
        pop %rbx
        ret
        .section .rodata
format: .asciz "%d\n"
        .section .note.GNU-stack, "", @progbits
