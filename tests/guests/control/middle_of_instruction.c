// Jumps into the middle of instructions: the same bytes decode in two ways, and both ways run, alternating.
#include "guest.h"

__asm__(
    ".text\n"
    // mov $0xc301c083, %eax hides: add $1, %eax; ret (83 c0 01 c3) at its second byte.
    "overlapped: .byte 0xb8, 0x83, 0xc0, 0x01, 0xc3\n"
    "  ret\n"
    // eb ff ... : jumps one byte back into itself, where ff c0 is inc %eax.
    "into_itself: .byte 0xeb, 0xff, 0xc0\n"
    "  ret\n");

int main(void) {
  long sum = 0;
  for (int i = 0; i < 1000; i++) {
    int whole, inner, itself;
    __asm__ volatile("sub $128, %%rsp\n call overlapped\n add $128, %%rsp\n"
                     : "=a"(whole)
                     :
                     : "memory", "cc");
    __asm__ volatile("sub $128, %%rsp\n call overlapped + 1\n add $128, %%rsp\n"
                     : "=a"(inner)
                     : "0"(i)
                     : "memory", "cc");
    __asm__ volatile("sub $128, %%rsp\n call into_itself\n add $128, %%rsp\n"
                     : "=a"(itself)
                     : "0"(10)
                     : "memory", "cc");
    EXPECT_EQ((unsigned)whole, 0xc301c083u);
    EXPECT_EQ(inner, i + 1);
    EXPECT_EQ(itself, 11);
    sum += inner;
  }
  printf("%ld\n", sum);
  return guest_result();
}
