// The border between generated code and the engine (exits.h). The context page is at a fixed address below 2 GiB, so
// plain absolute operands reach it without disturbing a register.
#include <asm/unistd_64.h>

#include "trace/guest/translate/context_offsets.h"

// Values of ExitKind (translate/context.h).
#define KIND_LINK 0
#define KIND_INDIRECT_JMP 1
#define KIND_INDIRECT_CALL 2
#define KIND_RET 3
#define KIND_TICK 4
#define KIND_SYSCALL 5
#define KIND_EMULATE 6
#define KIND_RESUME 7
#define KIND_FAULT 8

#define FLAG_TF_AC_RF 0x50100
#define FLAG_DF 0x400

    .text
    .macro exit_entry name, kind
    .globl \name
    .p2align 4
\name:
    movl $\kind, CTX_EXIT_KIND
    jmp exit_common
    .endm

    exit_entry exit_link, KIND_LINK
    exit_entry exit_emulate, KIND_EMULATE
    exit_entry exit_resume, KIND_RESUME

// Indirect transfers that the table has no entry for. Those above 4 GiB never have one: they are looked up by a plain call
// (quick_indirect.cc) before the common way is taken.
    .macro indirect_entry name, kind
    .globl \name
    .p2align 4
\name:
    movl $\kind, CTX_EXIT_KIND
    jmp try_indirect
    .endm

    indirect_entry exit_indirect_jmp, KIND_INDIRECT_JMP
    indirect_entry exit_indirect_call, KIND_INDIRECT_CALL
    indirect_entry exit_ret, KIND_RET

    .p2align 4
try_indirect:
    movq %rsp, CTX_GPR + 32
    movq CTX_ENGINE_RSP, %rsp
    pushfq
    pushq %rax
    xorl %eax, %eax
    testl $(FLAG_TF_AC_RF | FLAG_DF), 8(%rsp)
    jnz 1f
    pushq %rcx
    pushq %rdx
    pushq %rsi
    pushq %rdi
    pushq %r8
    pushq %r9
    pushq %r10
    pushq %r11
    call quick_indirect                 // nonzero: Context::resume and the guest's rsp are set
    popq %r11
    popq %r10
    popq %r9
    popq %r8
    popq %rdi
    popq %rsi
    popq %rdx
    popq %rcx
1:
    testl %eax, %eax
    popq %rax
    jz 2f
    popfq
    movq CTX_GPR + 32, %rsp
    jmp *CTX_RESUME                     // spill_rcx is still what the missed look-up stored
2:
    popfq
    movq CTX_GPR + 32, %rsp
    jmp exit_common

// System calls. `syscall` itself clobbers rcx and r11, so both are free here. getpid and gettid are answered without disturbing
// anything else, clock_gettime by a plain call; the rest takes the common way.
    .globl exit_syscall
    .p2align 4
exit_syscall:
    leaq -__NR_getpid(%rax), %rcx
    jrcxz answer_getpid
    leaq -__NR_gettid(%rax), %rcx
    jrcxz answer_gettid
    movl $KIND_SYSCALL, CTX_EXIT_KIND
    leaq -__NR_clock_gettime(%rax), %rcx
    jrcxz try_clock_gettime
    jmp exit_common

    .p2align 4
answer_gettid:
    movl $THREAD_TID, %r11d
    jmp answer_id
answer_getpid:
    movl $THREAD_PID, %r11d
answer_id:
    movq CTX_THREAD, %rax
    movl (%rax,%r11), %r11d
    movl CTX_EXIT_ARG, %ecx
    leaq (%rcx,%rcx,2), %rcx            // a Site has 24 bytes
    movq CTX_SITES, %rax
    leaq (%rax,%rcx,8), %rcx
    movl SITE_CACHE(%rcx), %eax
    movq %rax, CTX_RESUME
    movq SITE_PC(%rcx), %rcx            // as the kernel leaves rcx: the next instruction
    movl %r11d, %eax
    movq %rsp, CTX_GPR + 32
    movq CTX_ENGINE_RSP, %rsp
    pushfq
    popq %r11                           // and r11: the flags
    movq CTX_GPR + 32, %rsp
    jmp *CTX_RESUME

try_clock_gettime:
    movq %rsp, CTX_GPR + 32
    movq CTX_ENGINE_RSP, %rsp
    pushfq
    popq %r11
    testl $(FLAG_TF_AC_RF | FLAG_DF), %r11d
    jnz 2f
    cmpl $0, CTX_NO_QUICK_CALLS
    jne 2f
    pushq %rax
    pushq %rdx
    pushq %rsi
    pushq %rdi
    pushq %r8
    pushq %r9
    pushq %r10
    pushq %r11
    movl CTX_EXIT_ARG, %edx
    call quick_clock_gettime            // (clock, address, site): the result, and 0 in rdx when it needs the common way;
    testl %edx, %edx                    // else sets Context::resume and regs.pc
    popq %r11
    popq %r10
    popq %r9
    popq %r8
    popq %rdi
    popq %rsi
    popq %rdx
    jz 1f
    movq %rax, (%rsp)
    // The status flags without popfq, which takes as long as all of the above: sahf, and OF by an overflow.
    movl %r11d, %eax
    shll $8, %eax
    movl %r11d, %ecx
    shrl $11, %ecx
    andl $1, %ecx
    addb $0x7f, %cl
    sahf
    popq %rax
    movq CTX_PC, %rcx
    movq CTX_GPR + 32, %rsp
    jmp *CTX_RESUME
1:
    popq %rax
2:
    pushq %r11
    popfq
    movq CTX_GPR + 32, %rsp
    jmp exit_common

    .globl exit_tick_spilled, exit_tick
    .p2align 4
exit_tick_spilled:
    movq CTX_SPILL_RCX, %rcx
exit_tick:
    movl $KIND_TICK, CTX_EXIT_KIND

    .p2align 4
exit_common:
    movq %rax, CTX_GPR + 0
    movq %rcx, CTX_GPR + 8
    movq %rdx, CTX_GPR + 16
    movq %rbx, CTX_GPR + 24
    movq %rsp, CTX_GPR + 32
    movq %rbp, CTX_GPR + 40
    movq %rsi, CTX_GPR + 48
    movq %rdi, CTX_GPR + 56
    movq %r8, CTX_GPR + 64
    movq %r9, CTX_GPR + 72
    movq %r10, CTX_GPR + 80
    movq %r11, CTX_GPR + 88
    movq %r12, CTX_GPR + 96
    movq %r13, CTX_GPR + 104
    movq %r14, CTX_GPR + 112
    movq %r15, CTX_GPR + 120
    movq CTX_ENGINE_RSP, %rsp
    pushfq
    popq %rax
    movq %rax, CTX_RFLAGS
enter_engine:
    cld
    movl $0, CTX_IN_GUEST
    // Alignment checks and traps of the guest must not hit the engine.
    testl $FLAG_TF_AC_RF, %eax
    jz 1f
    pushq $2
    popfq
1:
    call engine_exit

    .globl resume_guest
resume_guest:
    movq CTX_ENGINE_RSP, %rsp
    pushq CTX_RFLAGS
    movq CTX_GPR + 8, %rcx
    movq %rcx, CTX_SPILL_RCX
    movq CTX_GPR + 0, %rax
    movq CTX_GPR + 16, %rdx
    movq CTX_GPR + 24, %rbx
    movq CTX_GPR + 40, %rbp
    movq CTX_GPR + 48, %rsi
    movq CTX_GPR + 56, %rdi
    movq CTX_GPR + 64, %r8
    movq CTX_GPR + 72, %r9
    movq CTX_GPR + 80, %r10
    movq CTX_GPR + 88, %r11
    movq CTX_GPR + 96, %r12
    movq CTX_GPR + 104, %r13
    movq CTX_GPR + 112, %r14
    movq CTX_GPR + 120, %r15
    popfq
    movq CTX_GPR + 32, %rsp
    jmp *CTX_RESUME

// The host signal handler has filled in context().regs and lets sigreturn continue here with rsp = engine_rsp.
    .globl fault_entry
    .p2align 4
fault_entry:
    movl $KIND_FAULT, CTX_EXIT_KIND
    movq CTX_RFLAGS, %rax
    jmp enter_engine

    .section .note.GNU-stack,"",@progbits
