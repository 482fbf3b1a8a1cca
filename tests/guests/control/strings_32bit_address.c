// String instructions with the address-size prefix use esi, edi and ecx; the program is linked low for it.
#include "guest.h"

static unsigned char from[256] = "low addresses", to[256];

int main(void) {
  unsigned long si = (uintptr_t)from | 0xabc00000000, di = (uintptr_t)to | 0xdef00000000,
                cx = 14 | 0x500000000;
  __asm__ volatile(".byte 0x67, 0xf3, 0xa4" : "+S"(si), "+D"(di), "+c"(cx) : : "memory");
  printf("%s\n", to);
  EXPECT_EQ(si, (uintptr_t)from + 14);
  EXPECT_EQ(di, (uintptr_t)to + 14);
  EXPECT_EQ(cx, 0);
  // Operands: a 32-bit base with garbage above, and eip-relative ones.
  unsigned value;
  unsigned long base = (uintptr_t)from | 0x7700000000;
  __asm__ volatile("movzbl 4(%k1), %0" : "=r"(value) : "r"(base));
  EXPECT_EQ(value, 'a');
  __asm__ volatile("movzbl from+5(%%eip), %0" : "=r"(value));
  EXPECT_EQ(value, 'd');
  unsigned long address;
  __asm__ volatile("lea from(%%eip), %0" : "=r"(address));
  EXPECT_EQ(address, (uintptr_t)from);
  __asm__ volatile("movabs from+6, %%al\n movzbl %%al, %0" : "=r"(value) : : "rax");
  EXPECT_EQ(value, 'd');
  __asm__ volatile("sub $128, %%rsp\n call *pointer(%%eip)\n add $128, %%rsp\n" : "=a"(value) : : "memory");
  EXPECT_EQ(value, 31);
  return guest_result();
}
__asm__(".data\n pointer: .quad answer\n .text\n answer: mov $31, %eax\n ret\n");
