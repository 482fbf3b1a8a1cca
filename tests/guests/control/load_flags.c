// lahf and sahf, pushf and popf (16 and 64 bits), cmc, clc, stc, cld, std: exact flags, also when jumps and
// calls lie between reading and using them; popf cannot change what user programs may not (IOPL, IF, VM).
#include "guest.h"

int main(void) {
  for (unsigned pattern = 0; pattern < 256; pattern++) {
    unsigned char loaded, stored;
    uint64_t flags;
    __asm__ volatile(
        "sub $128, %%rsp\n movzbl %b3, %%eax\n shl $8, %%eax\n sahf\n call 1f\n jmp 2f\n 1: ret\n 2: lahf\n "
        "mov %%ah, %0\n"
        "pushfq\n popq %2\n mov %3, %%eax\n shl $8, %%eax\n sahf\n jc 3f\n 3: jmp 4f\n 4: lahf\n mov %%ah, "
        "%1\n add $128, %%rsp\n"
        : "=&c"(loaded), "=&d"(stored), "=&r"(flags)
        : "b"(pattern)
        : "rax", "memory", "cc");
    unsigned want = (pattern & 0xd5) | 2;
    EXPECT_EQ(loaded, want);
    EXPECT_EQ(stored, want);
    EXPECT_EQ(flags & 0xff, want);
    EXPECT_EQ(flags & 0x800, 0);
  }
  static const uint64_t kPatterns[] = {0,       0x3000, 0x200, 0x20000,  0x200000,
                                       0x40000, 0x4000, 0xcd5, 0x100000, 0x80000};
  for (int i = 0; i < 10; i++) {
    uint64_t got, short_got;
    __asm__ volatile(
        "sub $128, %%rsp\n push %1\n popfq\n pushfq\n pop %0\n push $2\n popfq\n add $128, %%rsp\n"
        : "=r"(got)
        : "r"(kPatterns[i])
        : "memory", "cc");
    __asm__ volatile(
        "sub $128, %%rsp\n pushw %w1\n popfw\n pushfw\n movzwl (%%rsp), %k0\n add $2, %%rsp\n push $2\n "
        "popfq\n add $128, %%rsp\n"
        : "=&r"(short_got)
        : "r"(kPatterns[i])
        : "memory", "cc");
    printf("%lx: %lx, %lx\n", kPatterns[i], got, short_got);
  }
  // Carry by cmc, clc, stc across calls.
  uint64_t bits = 0;
  __asm__ volatile(
      "sub $128, %%rsp\n clc\n call 1f\n rcl $1, %0\n stc\n call 1f\n rcl $1, %0\n cmc\n call 1f\n rcl $1, "
      "%0\n cmc\n jmp 2f\n"
      "1: ret\n 2: rcl $1, %0\n std\n pushfq\n pop %%rax\n cld\n bt $10, %%eax\n rcl $1, %0\n add $128, "
      "%%rsp\n"
      : "+&r"(bits)
      :
      : "rax", "memory", "cc");
  printf("%lx\n", bits);
  return guest_result();
}
