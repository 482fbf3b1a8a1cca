// Direct jumps, calls and conditional jumps over some megabytes of code in both directions, and a chain through 2,000
// small functions.
        .globl main
        .text
main:
        push %rbx
        xor %ebx, %ebx
        mov $50, %r12d
1:      jmp far_forward
back_again:
        test %ebx, %ebx
        js far_conditional
        call far_function
        dec %r12d
        jnz 1b
        xor %eax, %eax
        call chain
        lea format(%rip), %rdi
        mov %ebx, %esi
        mov %eax, %edx
        xor %eax, %eax
        call printf@PLT
        xor %eax, %eax
        pop %rbx
        ret
        .fill 3000000, 1, 0xcc
far_forward:
        inc %ebx
        cmp $1000, %ebx
        jne back_again
far_conditional:
        ud2
        .fill 3000000, 1, 0xcc
far_function:
        add $10, %ebx
        ret
        .altmacro
        .macro link number, next
piece\number:
        add $1, %eax
        test %eax, %eax
        jz far_conditional
        jmp piece\next
        .fill 200, 1, 0xcc
        .endm
chain:
        jmp piece0
        .set index, 0
        .rept 2000
        link %index, %(index + 1)
        .set index, index + 1
        .endr
piece2000:
        ret
        .section .rodata
format: .asciz "%d %d\n"
        .section .note.GNU-stack, "", @progbits
