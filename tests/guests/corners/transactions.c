// Hardware transactions: cpuid denies them, or xbegin either runs or goes to its abort address with a status;
// xtest outside says no; lock elision prefixes do no harm.
#include <cpuid.h>

#include "guest.h"

int main(void) {
  unsigned a, b, c, d;
  __cpuid_count(7, 0, a, b, c, d);
  long counter = 0;
  if (b & (1u << 11)) {
    for (int i = 0; i < 1000; i++) {
      unsigned status = ~0u;
      __asm__ volatile("mov $-1, %%eax\n xbegin 1f\n incq %1\n xend\n 1: mov %%eax, %0"
                       : "=r"(status), "+m"(counter)
                       :
                       : "rax", "memory", "cc");
      if (status != ~0u) counter++;  // aborted: do it without
      unsigned char inside;
      __asm__ volatile("xtest\n setnz %0" : "=q"(inside) : : "cc");
      EXPECT_EQ(inside, 0);
    }
    EXPECT_EQ(counter, 1000);
  }
  long lock = 0;
  for (int i = 0; i < 1000; i++) {
    __asm__ volatile(".byte 0xf2\n lock incq %0\n .byte 0xf3\n lock decq %0\n .byte 0xf3\n movq $0, %0"
                     : "+m"(lock)
                     :
                     : "cc");
    EXPECT_EQ(lock, 0);
  }
  printf("done\n");
  return guest_result();
}
