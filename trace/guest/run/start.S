// Where the kernel starts the engine: rsp points at argc, argv, envp, auxv.
    .text
    .globl engine_start
engine_start:
    xorl %ebp, %ebp
    movq %rsp, %rdi
    andq $-16, %rsp
    call engine_main
    ud2

    .section .note.GNU-stack,"",@progbits
