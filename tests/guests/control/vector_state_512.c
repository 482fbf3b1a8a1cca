// zmm0-31 and the mask registers live through calls, returns, indirect jumps, emulated instructions and
// system calls.
// @needs: avx512f avx512bw
#include "guest.h"

__attribute__((aligned(64))) unsigned char vectors_in[32 * 64], vectors_out[32 * 64];
uint64_t masks_in[8], masks_out[8];

#define EACH(do)                                                                                                 \
  do                                                                                                             \
  (0) do(1) do(2) do(3) do(4) do(5) do(6) do(7) do(8) do(9) do(10) do(11) do(12) do(13) do(14) do(15) do(16) do( \
      17) do(18) do(19) do(20) do(21) do(22) do(23) do(24) do(25) do(26) do(27) do(28) do(29) do(30) do(31)
#define EACH_MASK(do) \
  do (0) do(1) do(2) do(3) do(4) do(5) do(6) do(7)
#define LOAD(n) "vmovdqa64 vectors_in + 64*" #n "(%rip), %zmm" #n "\n"
#define STORE(n) "vmovdqa64 %zmm" #n ", vectors_out + 64*" #n "(%rip)\n"
#define LOAD_MASK(n) "kmovq masks_in + 8*" #n "(%rip), %k" #n "\n"
#define STORE_MASK(n) "kmovq %k" #n ", masks_out + 8*" #n "(%rip)\n"

void run(void);
__asm__(".text\nrun:\n push %rbx\n" EACH(LOAD) EACH_MASK(LOAD_MASK)
        "call 1f\n jmp 3f\n"
        "1: call 2f\n ret\n"
        "2: mov $50, %ecx\n 4: loop 4b\n lea 5f(%rip), %rax\n jmp *%rax\n 5: ret\n"
        "3: xor %eax, %eax\n xor %ecx, %ecx\n cpuid\n rdtsc\n mov $39, %eax\n syscall\n"
        EACH(STORE) EACH_MASK(STORE_MASK) "vzeroupper\n pop %rbx\n ret\n");

int main(void) {
  for (size_t i = 0; i < sizeof vectors_in; i++) vectors_in[i] = (unsigned char)(i * 13 + (i >> 8) + 1);
  for (int i = 0; i < 8; i++) masks_in[i] = 0x123456789abcdef0u * (unsigned)(i + 1);
  for (int round = 0; round < 200; round++) {
    memset(vectors_out, 0, sizeof vectors_out);
    memset(masks_out, 0, sizeof masks_out);
    run();
    EXPECT(memcmp(vectors_in, vectors_out, sizeof vectors_in) == 0);
    EXPECT(memcmp(masks_in, masks_out, sizeof masks_in) == 0);
  }
  return guest_result();
}
