// Vector and x87 state live through calls, returns, indirect jumps, emulated instructions and system calls:
// xmm, ymm, the x87 stack, MXCSR and the control word.
// @needs: avx
#include <immintrin.h>

#include "guest.h"

__attribute__((aligned(32))) unsigned char vectors_in[16 * 32], vectors_out[16 * 32];

#define EACH(do) \
  do (0) do(1) do(2) do(3) do(4) do(5) do(6) do(7) do(8) do(9) do(10) do(11) do(12) do(13) do(14) do(15)
#define LOAD(n) "vmovdqa vectors_in + 32*" #n "(%%rip), %%ymm" #n "\n"
#define STORE(n) "vmovdqa %%ymm" #n ", vectors_out + 32*" #n "(%%rip)\n"

int main(void) {
  for (size_t i = 0; i < sizeof vectors_in; i++) vectors_in[i] = (unsigned char)(i * 13 + 1);
  for (int round = 0; round < 200; round++) {
    double x87[4] = {0};
    static unsigned short control, control_out;
    static unsigned mxcsr, mxcsr_out;
    control = 0x0b7f, control_out = 0;  // round up
    mxcsr = 0x3f80, mxcsr_out = 0;      // round down
    memset(vectors_out, 0, sizeof vectors_out);
    __asm__ volatile(
        "sub $128, %%rsp\n"
        "fldcw %[control]\n ldmxcsr %[mxcsr]\n fld1\n fldpi\n fldl2e\n" EACH(LOAD)
        "call 1f\n jmp 3f\n"
        "1: call 2f\n ret\n"
        "2: mov $50, %%ecx\n 4: loop 4b\n lea 5f(%%rip), %%rax\n jmp *%%rax\n 5: ret\n"
        "3: xor %%eax, %%eax\n xor %%ecx, %%ecx\n cpuid\n rdtsc\n mov $39, %%eax\n syscall\n"
        "mov $1000, %%eax\n 6: dec %%eax\n jnz 6b\n"
        EACH(STORE)
        "fstpl (%[x87])\n fstpl 8(%[x87])\n fstpl 16(%[x87])\n"
        "stmxcsr %[mxcsr_out]\n fnstcw %[control_out]\n"
        "fninit\n movl $0x1f80, -4(%%rsp)\n ldmxcsr -4(%%rsp)\n vzeroupper\n"
        "add $128, %%rsp\n"
        : [mxcsr_out] "+m"(mxcsr_out), [control_out] "+m"(control_out)
        : [control] "m"(control), [mxcsr] "m"(mxcsr), [x87] "r"(x87)
        : "rax", "rbx", "rcx", "rdx", "r11", "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6",
          "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
    EXPECT(memcmp(vectors_in, vectors_out, sizeof vectors_in) == 0);
    EXPECT_EQ(mxcsr_out & 0xffc0, 0x3f80);
    EXPECT_EQ(control_out, 0x0b7f);
    EXPECT(x87[2] == 1.0 && x87[1] > 3.14 && x87[1] < 3.15 && x87[0] > 1.44 && x87[0] < 1.45);
  }
  return guest_result();
}
