// Rip-relative operands of every kind: loads, stores, with immediates of 1, 2 and 4 bytes behind the displacement, through
// the stack, locked, 16-byte compare-and-exchange, bit tests, shifts, x87, SSE, AVX, FMA, BMI, EVEX. Exits with the number
// of the first check that fails. No library, so that it can be linked anywhere, also above 2 GiB.
// @needs: avx2 fma bmi2 movbe
        .globl _start
        .text
        .macro equal
        .set number, number + 1
        je 1f
        mov $number, %edi
        jmp leave
1:
        .endm
        .macro expect64 operand, value
        movabs $\value, %r15
        cmp %r15, \operand
        equal
        .endm
        .set number, 0
_start:
        // No loader relocates data here: the two pointers are made at run time.
        lea function(%rip), %rax
        mov %rax, function_pointer(%rip)
        lea stack_top(%rip), %rax
        mov %rax, stack_slot(%rip)
        // Loads and extensions.
        mov q1(%rip), %rax
        expect64 %rax, 0x1122334455667788
        mov q1(%rip), %r13
        expect64 %r13, 0x1122334455667788
        movzbl q1 + 7(%rip), %eax
        cmp $0x11, %eax
        equal
        movswq neg16(%rip), %r9
        cmp $-2, %r9
        equal
        movslq neg32(%rip), %rcx
        cmp $-3, %rcx
        equal
        movsbl neg16(%rip), %edx
        cmp $-2, %edx
        equal
        mov q1(%rip), %ch
        cmp $0x88, %ch
        equal
        lea q1(%rip), %rsi
        cmpl $0x55667788, (%rsi)
        equal
        lea q1 + 0x100(%rip), %rdi
        sub $0x100, %rdi
        cmp %rsi, %rdi
        equal
        lea q1(%rip), %eax                      // 32-bit result of a 64-bit address
        mov %esi, %ecx
        cmp %rcx, %rax
        equal
        // Stores and immediates.
        movb $0x5a, target(%rip)
        movw $0x1234, target + 2(%rip)
        movl $0x89abcdef, target + 4(%rip)
        mov target(%rip), %rax
        movb $0, %ah
        expect64 %rax, 0x89abcdef1234005a
        movq $-5, target(%rip)
        cmpq $-5, target(%rip)
        equal
        mov %r14, target(%rip)
        cmp %r14, target(%rip)
        equal
        movq $10, target(%rip)
        addb $5, target(%rip)
        addw $0x100, target(%rip)
        addl $0x10000, target(%rip)
        addq $0x12345678, target(%rip)
        expect64 target(%rip), 0x12355787
        subq $3, target(%rip)
        orq $0x7f, target(%rip)
        andw $0xfff0, target(%rip)
        xorl $0xff, target(%rip)
        testb $1, target(%rip)
        setnz %al
        cmp $1, %al
        equal
        testl $0x10000000, target(%rip)
        setnz target2(%rip)
        cmpb $1, target2(%rip)
        equal
        // One-operand forms.
        movq $7, target(%rip)
        incq target(%rip)
        decl target(%rip)
        negq target(%rip)
        notq target(%rip)
        cmpq $6, target(%rip)
        equal
        mov $3, %eax
        mulq target(%rip)
        cmp $18, %rax
        equal
        mov $20, %eax
        cltd
        idivl target(%rip)
        cmp $3, %eax
        equal
        imul $100, target(%rip), %ecx
        cmp $600, %ecx
        equal
        imul $100000, target(%rip), %rcx
        cmp $600000, %rcx
        equal
        imul target(%rip), %rcx
        cmp $3600000, %rcx
        equal
        // Shifts and bits.
        shlq $4, target(%rip)
        shrl $1, target(%rip)
        mov $2, %cl
        rolq %cl, target(%rip)
        sarq target(%rip)
        cmpq $96, target(%rip)
        equal
        mov $-1, %rax
        shldq $8, %rax, target(%rip)
        expect64 target(%rip), 0x60ff
        btsl $20, target(%rip)
        btrl $0, target(%rip)
        btcl $1, target(%rip)
        expect64 target(%rip), 0x1060fc
        btl $20, target(%rip)
        setc %al
        cmp $1, %al
        equal
        bsf target(%rip), %rax
        cmp $2, %rax
        equal
        popcntq target(%rip), %rax
        cmp $9, %rax
        equal
        movbeq q1(%rip), %rax
        expect64 %rax, 0x8877665544332211
        xor %eax, %eax
        crc32q q1(%rip), %rax
        mov %rax, %rbx
        xor %eax, %eax
        mov q1(%rip), %rcx
        crc32q %rcx, %rax
        cmp %rax, %rbx
        equal
        mov $1, %edx
        andn q1(%rip), %rdx, %rax
        expect64 %rax, 0x1122334455667788
        mov $2, %edx
        mulx q1(%rip), %rax, %rcx
        expect64 %rax, 0x22446688aaccef10
        rorx $8, q1(%rip), %rax
        expect64 %rax, 0x8811223344556677
        mov $4, %ecx
        shlx %rcx, q1(%rip), %rax
        expect64 %rax, 0x1223344556677880
        mov $0xff00, %ecx
        pext q1(%rip), %rcx, %rax
        // Conditional moves and sets.
        xor %eax, %eax
        cmovz q1(%rip), %rax
        expect64 %rax, 0x1122334455667788
        cmovnz neg32(%rip), %eax
        // Exchange and locked forms.
        mov $1, %eax
        xchg %rax, target(%rip)
        expect64 %rax, 0x1060fc
        mov $1, %eax
        mov $99, %ecx
        lock cmpxchg %rcx, target(%rip)
        equal
        lock incq target(%rip)
        mov $5, %eax
        lock xadd %rax, target(%rip)
        cmp $100, %rax
        equal
        lock orb $0x80, target(%rip)
        lock btsq $40, target(%rip)
        expect64 target(%rip), 0x100000000e9
        xor %eax, %eax
        xor %edx, %edx
        mov $0x11, %ebx
        mov $0x22, %ecx
        lock cmpxchg16b pair(%rip)
        equal
        cmpq $0x22, pair + 8(%rip)
        equal
        mov $0x11, %eax
        xor %edx, %edx
        mov $7, %ebx
        mov $8, %ecx
        cmpxchg8b pair(%rip)
        equal
        // The stack.
        mov %rsp, %rbp
        push q1(%rip)
        pop target(%rip)
        expect64 target(%rip), 0x1122334455667788
        pushw q1(%rip)
        pop %ax
        cmp $0x7788, %ax
        equal
        pushq $0x246
        popfq
        cmp %rsp, %rbp
        equal
        mov stack_slot(%rip), %rsp              // a stack pointer loaded from memory
        cmpq $0x77, (%rsp)
        equal
        xchg %rsp, stack_slot(%rip)
        mov %rbp, %rsp
        call *function_pointer(%rip)
        cmp $123, %eax
        equal
        lea 2f(%rip), %rax
        mov %rax, target(%rip)
        jmp *target(%rip)
        ud2
2:
        // x87.
        fldl double1(%rip)
        faddl double2(%rip)
        fstpl target(%rip)
        expect64 target(%rip), 0x4012000000000000
        fildl six(%rip)
        fistpll target(%rip)
        cmpq $6, target(%rip)
        equal
        fldt extended(%rip)
        fstpt wide(%rip)
        cmpw $0x3fff, wide + 8(%rip)
        equal
        fnstcw target(%rip)
        fldcw target(%rip)
        cmpw $0x37f, target(%rip)
        equal
        stmxcsr target(%rip)
        ldmxcsr target(%rip)
        // SSE, with and without immediate.
        movaps vector1(%rip), %xmm0
        addps vector2(%rip), %xmm0
        movups %xmm0, wide(%rip)
        cmpl $0x40a00000, wide(%rip)
        equal
        pshufd $0x1b, vector1(%rip), %xmm9
        movd %xmm9, %eax
        cmp $0x40c00000, %eax
        equal
        shufps $0x00, vector2(%rip), %xmm9
        cmpps $0, vector1(%rip), %xmm0
        pinsrw $3, six(%rip), %xmm0
        pextrw $3, %xmm0, %eax
        cmp $6, %eax
        equal
        pextrd $1, %xmm0, target(%rip)
        movsd double1(%rip), %xmm1
        ucomisd double1(%rip), %xmm1
        equal
        cvtsi2sdq six(%rip), %xmm2
        cvttsd2si double2(%rip), %rax
        cmp $3, %rax
        equal
        roundsd $1, double2(%rip), %xmm3
        pcmpistri $0x0c, text(%rip), %xmm3
        movntdq %xmm0, wide(%rip)
        movhps vector1(%rip), %xmm4
        movlpd %xmm4, target(%rip)
        movdqa vector1(%rip), %xmm5
        palignr $4, vector2(%rip), %xmm5
        aesenc vector1(%rip), %xmm5
        aeskeygenassist $1, vector1(%rip), %xmm5
        pclmulqdq $0x11, vector1(%rip), %xmm5
        blendvps %xmm0, vector1(%rip), %xmm5
        // AVX, AVX2, FMA.
        vmovups vector1(%rip), %ymm0
        vaddps vector1(%rip), %ymm0, %ymm8
        vpermilps $0x1b, vector1(%rip), %ymm1
        vmovd %xmm1, %eax
        cmp $0x40c00000, %eax
        equal
        vblendps $0x0f, vector2(%rip), %ymm8, %ymm9
        vinsertf128 $1, vector2(%rip), %ymm9, %ymm10
        vextractf128 $1, %ymm10, wide(%rip)
        cmpl $0x40000000, wide(%rip)
        equal
        vpbroadcastd six(%rip), %ymm11
        vpextrd $3, %xmm11, %eax
        cmp $6, %eax
        equal
        vbroadcastss vector2(%rip), %ymm2
        vpcmpeqb vector1(%rip), %ymm0, %ymm3
        vpmovmskb %ymm3, %eax
        cmp $-1, %eax
        equal
        vfmadd231sd double1(%rip), %xmm1, %xmm2
        vpalignr $8, vector2(%rip), %ymm3, %ymm4
        vmaskmovps vector1(%rip), %ymm3, %ymm5
        vpsllvd vector2(%rip), %ymm3, %ymm5
        vblendvpd %ymm3, vector1(%rip), %ymm0, %ymm5
        vcvtph2ps vector1(%rip), %ymm6
        vzeroupper
#ifdef WITH_EVEX
        vmovdqu64 vector1(%rip), %zmm20
        vpaddd vector1(%rip){1to16}, %zmm20, %zmm21
        vpternlogd $0xff, vector1(%rip), %zmm21, %zmm22
        vpcmpud $0, vector1(%rip), %zmm20, %k1
        kmovd %k1, %eax
        cmp $0xffff, %eax
        equal
        vmovdqu32 %zmm22, wide(%rip){%k1}
        kmovw six(%rip), %k2
        kmovw %k2, %eax
        cmp $6, %eax
        equal
        vinserti64x4 $1, vector1(%rip), %zmm20, %zmm23
        vzeroupper
#endif
        // State images.
        fxsave area(%rip)
        fxrstor area(%rip)
        cmpw $0x37f, area(%rip)
        equal
        mov $3, %eax
        xor %edx, %edx
        xsave area(%rip)
        mov $3, %eax
        xor %edx, %edx
        xrstor area(%rip)
        prefetcht0 q1(%rip)
        clflush q1(%rip)
        mov $1, %eax
        mov $1, %edi
        lea message(%rip), %rsi
        mov $(message_end - message), %edx
        syscall
        xor %edi, %edi
leave:
        mov $231, %eax
        syscall
function:
        mov $123, %eax
        ret
        .section .rodata
message:        .ascii "every operand\n"
message_end:
text:   .asciz "0123456789abcdef"
        .data
        .balign 64
area:   .zero 1024
        .balign 64
vector1:        .float 3.0, 4.0, 5.0, 6.0, 3.0, 4.0, 5.0, 6.0
        .float 3.0, 4.0, 5.0, 6.0, 3.0, 4.0, 5.0, 6.0
vector2:        .float 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0
wide:   .zero 64
pair:   .quad 0, 0
q1:     .quad 0x1122334455667788
target: .quad 0
target2:        .quad 0
neg32:  .long -3
neg16:  .word -2, 0
six:    .long 6, 0
double1:        .double 1.25
double2:        .double 3.25
extended:       .byte 0, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0x3f
        .balign 8
function_pointer:       .quad 0
stack_slot:     .quad 0
        .zero 512
stack_top:      .quad 0x77
        .section .note.GNU-stack, "", @progbits
