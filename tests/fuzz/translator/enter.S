// The border between random code and the program. All memory is reached by absolute addresses, so that no register is
// disturbed; the program is linked below 2 GiB.
#define RFLAGS 128
#define PC 136
#define XSAVE 192

    .text
    .macro save_gpr reg, n
    movq %\reg, exit_state + 8 * \n
    .endm
    .macro load_gpr reg, n
    movq entry_state + 8 * \n, %\reg
    .endm

    .globl run_sequence, leave_sequence, abandon_sequence, handler_entry
run_sequence:
    pushq %rbx
    pushq %rbp
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, host_rsp
    movl xsave_mask, %eax
    xorl %edx, %edx
    xrstor64 entry_state + XSAVE
    pushq entry_state + RFLAGS
    load_gpr rax, 0
    load_gpr rcx, 1
    load_gpr rdx, 2
    load_gpr rbx, 3
    load_gpr rbp, 5
    load_gpr rsi, 6
    load_gpr rdi, 7
    load_gpr r8, 8
    load_gpr r9, 9
    load_gpr r10, 10
    load_gpr r11, 11
    load_gpr r12, 12
    load_gpr r13, 13
    load_gpr r14, 14
    load_gpr r15, 15
    popfq
    load_gpr rsp, 4
    jmp *entry_state + PC

leave_sequence:
    save_gpr rax, 0
    save_gpr rcx, 1
    save_gpr rdx, 2
    save_gpr rbx, 3
    save_gpr rsp, 4
    save_gpr rbp, 5
    save_gpr rsi, 6
    save_gpr rdi, 7
    save_gpr r8, 8
    save_gpr r9, 9
    save_gpr r10, 10
    save_gpr r11, 11
    save_gpr r12, 12
    save_gpr r13, 13
    save_gpr r14, 14
    save_gpr r15, 15
    movq host_rsp, %rsp
    pushfq
    popq exit_state + RFLAGS
    pushq $2
    popfq
    movl xsave_mask, %eax
    xorl %edx, %edx
    xsave64 exit_state + XSAVE

abandon_sequence:
    movq host_rsp, %rsp
    pushq $2
    popfq
    fninit
    ldmxcsr host_mxcsr
    testb $4, xsave_mask
    jz 1f
    vzeroupper
1:  popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbp
    popq %rbx
    ret

handler_entry:
    pushfq
    andl $~0x40000, (%rsp)
    popfq
    jmp on_signal

    .section .rodata
    .p2align 2
host_mxcsr:
    .long 0x1f80

    .bss
    .p2align 3
host_rsp:
    .skip 8

    .section .note.GNU-stack,"",@progbits
