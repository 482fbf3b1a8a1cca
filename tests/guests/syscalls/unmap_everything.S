// A program without library that unmaps the whole address space around its own two pages, in large pieces and in small
// ones, the original stack included; it goes on, with system calls and new mappings.
        .globl _start
        .text
        .macro unmap from, to
        movabs $\from, %rdi
        movabs $\to, %rsi
        sub %rdi, %rsi
        mov $11, %eax
        syscall
        test %rax, %rax
        jnz fail
        .endm
_start:
        lea stack_end(%rip), %rsp
        // Below the program, and everything above it.
        unmap 0x10000, 0x400000
        lea program_end + 4095(%rip), %rdi
        and $-4096, %rdi
        mov $0x80000000, %esi
        sub %rdi, %rsi
        mov $11, %eax
        syscall
        test %rax, %rax
        jnz fail
        unmap 0x80000000, 0x100000000
        unmap 0x100000000, 0x10000000000
        unmap 0x10000000000, 0x200000000000
        unmap 0x200000000000, 0x400000000000
        unmap 0x400000000000, 0x600000000000
        unmap 0x600000000000, 0x7f0000000000
        unmap 0x7f0000000000, 0x7fffffffe000
        // Once more in pieces of 64 GiB.
        mov $0x100000000, %r12
        mov $0x1000000000, %r13
1:      mov %r12, %rdi
        mov %r13, %rsi
        mov $11, %eax
        syscall
        test %rax, %rax
        jnz fail
        add %r13, %r12
        movabs $0x7fffffffe000, %rax
        lea (%r12,%r13), %rcx
        cmp %rax, %rcx
        jb 1b
        // Still here: an indirect call, a new mapping, a write to it, its end.
        lea function(%rip), %rax
        call *%rax
        cmp $77, %eax
        jne fail
        mov $9, %eax
        xor %edi, %edi
        mov $65536, %esi
        mov $3, %edx
        mov $0x22, %r10d
        mov $-1, %r8
        xor %r9d, %r9d
        syscall
        cmp $-4096, %rax
        ja fail
        movl $5, 4096(%rax)
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
function:
        mov $77, %eax
        ret
        .section .rodata
message:        .ascii "alone in the address space\n"
message_end:
        .data
        .balign 16
        .zero 4096
stack_end:
        .zero 16
program_end:
        .section .note.GNU-stack, "", @progbits
