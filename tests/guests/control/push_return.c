// push of an address and ret: by immediate (the program is linked low), by register, by memory; chains of
// them.
#include "guest.h"

static long trace;

int main(void) {
  for (int i = 0; i < 5000; i++) {
    __asm__ volatile(
        "sub $128, %%rsp\n"
        "push $1f\n"
        "ret\n"
        "ud2\n"
        "1: addq $1, %0\n"
        "lea 2f(%%rip), %%rax\n"
        "push %%rax\n"
        "ret\n"
        "ud2\n"
        "2: addq $10, %0\n"
        "movq $3f, -8(%%rsp)\n"
        "lea -8(%%rsp), %%rsp\n"
        "ret\n"
        "ud2\n"
        "3: addq $100, %0\n"
        // A return-oriented chain: three addresses, each a piece that ends in ret.
        "push $7f\n"
        "push $6f\n"
        "push $5f\n"
        "ret\n"
        "5: addq $1000, %0\n"
        "ret\n"
        "6: addq $10000, %0\n"
        "ret\n"
        "7: addq $100000, %0\n"
        "add $128, %%rsp\n"
        : "+m"(trace)
        :
        : "rax", "memory", "cc");
  }
  printf("%ld\n", trace);
  EXPECT_EQ(trace, 111111L * 5000);
  return guest_result();
}
