// loop, loope, loopne, jrcxz, jecxz and their 32-bit count forms: forwards, backwards, with a count of zero;
// none of them changes a flag.
#include "guest.h"

static unsigned long flags_of(unsigned long flags) { return flags & 0x8d5; }

int main(void) {
  long iterations, count;
  unsigned long flags;
  __asm__ volatile("xor %%eax, %%eax\n mov $1000, %%ecx\n 1: inc %%rax\n loop 1b\n"
                   : "=&a"(iterations), "=&c"(count)
                   :
                   : "cc");
  EXPECT_EQ(iterations, 1000);
  EXPECT_EQ(count, 0);

  // loop onto itself.
  __asm__ volatile("mov $5000, %%ecx\n 1: loop 1b\n" : "=&c"(count) : : "cc");
  EXPECT_EQ(count, 0);

  // A count of zero wraps: the jump is taken and rcx is -1.
  __asm__ volatile("xor %%ecx, %%ecx\n mov $7, %%eax\n loop 1f\n mov $0, %%eax\n 1:\n"
                   : "=&a"(iterations), "=&c"(count)
                   :
                   : "cc");
  EXPECT_EQ(iterations, 7);
  EXPECT_EQ(count, -1);

  // The 32-bit count form decrements ecx and so clears the upper half.
  __asm__ volatile("movabs $0x100000001, %%rcx\n mov $7, %%eax\n addr32 loop 1f\n mov $9, %%eax\n 1:\n"
                   : "=&a"(iterations), "=&c"(count)
                   :
                   : "cc");
  EXPECT_EQ(iterations, 9);
  EXPECT_EQ(count, 0);
  __asm__ volatile("movabs $0x100000001, %%rcx\n mov $7, %%eax\n loop 1f\n mov $9, %%eax\n 1:\n"
                   : "=&a"(iterations), "=&c"(count)
                   :
                   : "cc");
  EXPECT_EQ(iterations, 7);
  EXPECT_EQ(count, 0x100000000);

  // loope stops when ZF is clear, loopne when it is set.
  static const char kText[] = "aaaaaaab";
  __asm__ volatile("mov $-1, %%rax\n mov $8, %%ecx\n 1: inc %%rax\n cmpb $'a', (%[text],%%rax)\n loope 1b\n"
                   : "=&a"(iterations), "=&c"(count)
                   : [text] "r"(kText)
                   : "cc");
  EXPECT_EQ(iterations, 7);
  EXPECT_EQ(count, 0);
  __asm__ volatile(
      "mov $-1, %%rax\n mov $100, %%ecx\n 1: inc %%rax\n cmpb $'b', (%[text],%%rax)\n loopne 1b\n"
      : "=&a"(iterations), "=&c"(count)
      : [text] "r"(kText)
      : "cc");
  EXPECT_EQ(iterations, 7);
  EXPECT_EQ(count, 92);

  // jrcxz looks at 64 bits, jecxz at 32.
  for (int i = 0; i < 4; i++) {
    static const unsigned long kCounts[] = {0, 1, 0x100000000, ~0ul};
    int by_64, by_32;
    __asm__ volatile("mov $1, %0\n jrcxz 1f\n mov $0, %0\n 1:\n" : "=&r"(by_64) : "c"(kCounts[i]) : "cc");
    __asm__ volatile("mov $1, %0\n jecxz 1f\n mov $0, %0\n 1:\n" : "=&r"(by_32) : "c"(kCounts[i]) : "cc");
    printf("count %lx: jrcxz %d, jecxz %d\n", kCounts[i], by_64, by_32);
    EXPECT_EQ(by_64, kCounts[i] == 0);
    EXPECT_EQ(by_32, (unsigned)kCounts[i] == 0);
  }

  // Backward jrcxz.
  __asm__ volatile("xor %%eax, %%eax\n xor %%ecx, %%ecx\n jmp 2f\n 1: inc %%eax\n inc %%ecx\n 2: jrcxz 1b\n"
                   : "=&a"(iterations), "=&c"(count)
                   :
                   : "cc");
  EXPECT_EQ(iterations, 1);
  EXPECT_EQ(count, 1);

  // Flags stay.
  for (unsigned pattern = 0; pattern < 64; pattern++) {
    unsigned long want = 2 | (pattern & 1) | (pattern & 2 ? 4 : 0) | (pattern & 4 ? 16 : 0) |
                         (pattern & 8 ? 64 : 0) | (pattern & 16 ? 128 : 0) | (pattern & 32 ? 2048 : 0);
    __asm__ volatile(
        "sub $128, %%rsp\n mov $3, %%ecx\n push %[want]\n popfq\n 1: loop 1b\n jrcxz 2f\n 2: pushfq\n pop "
        "%[got]\n"
        "add $128, %%rsp\n"
        : [got] "=&r"(flags)
        : [want] "r"(want)
        : "rcx", "memory", "cc");
    EXPECT_EQ(flags_of(flags), flags_of(want));
    // loope and loopne with flags live behind them.
    __asm__ volatile(
        "sub $128, %%rsp\n mov $2, %%ecx\n push %[want]\n popfq\n 1: loope 1b\n mov $2, %%ecx\n 2: loopne "
        "2b\n pushfq\n"
        "pop %[got]\n add $128, %%rsp\n"
        : [got] "=&r"(flags)
        : [want] "r"(want)
        : "rcx", "memory", "cc");
    EXPECT_EQ(flags_of(flags), flags_of(want));
  }
  return guest_result();
}
