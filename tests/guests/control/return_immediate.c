// ret with an immediate (callee pops its arguments), and the odd spellings of ret and call that compilers
// emit: rep ret, bnd ret, notrack and bnd jumps, branch hints, redundant REX prefixes.
#include "guest.h"

__asm__(
    ".text\n"
    "sum3: mov 8(%rsp), %rax\n add 16(%rsp), %rax\n add 24(%rsp), %rax\n ret $24\n"
    "pop_much: mov $1, %eax\n ret $0x8000\n"
    "rep_ret: mov $2, %eax\n repz ret\n"
    "bnd_ret: mov $4, %eax\n .byte 0xf2, 0xc3\n"
    "rex_ret: mov $8, %eax\n .byte 0x48, 0xc3\n");

int main(void) {
  long sum, total = 0;
  for (int i = 0; i < 1000; i++) {
    __asm__ volatile("sub $128, %%rsp\n push $1\n push $20\n push $300\n call sum3\n add $128, %%rsp\n"
                     : "=a"(sum)
                     :
                     : "memory", "cc");
    total += sum;
  }
  EXPECT_EQ(total, 321000);
  uintptr_t moved;
  __asm__ volatile(
      "mov %%rsp, %%rdx\n sub $0x9000, %%rsp\n mov %%rsp, %%rcx\n call pop_much\n sub %%rsp, %%rcx\n neg "
      "%%rcx\n"
      "mov %%rdx, %%rsp\n"
      : "=c"(moved)
      :
      : "rax", "rdx", "memory", "cc");
  EXPECT_EQ(moved, 0x8000);
  total = 0;
  __asm__ volatile(
      "sub $128, %%rsp\n"
      "call rep_ret\n add %%rax, %0\n"
      "call bnd_ret\n add %%rax, %0\n"
      "call rex_ret\n add %%rax, %0\n"
      ".byte 0xf2\n call rep_ret\n add %%rax, %0\n"              // bnd call
      ".byte 0x48\n call rep_ret\n add %%rax, %0\n"              // rex.w call
      ".byte 0x66, 0x66, 0x48\n call rep_ret\n add %%rax, %0\n"  // as in general-dynamic TLS sequences
      "lea rep_ret(%%rip), %%rdx\n"
      ".byte 0x3e\n call *%%rdx\n add %%rax, %0\n"  // notrack
      ".byte 0xf2, 0x3e\n call *%%rdx\n add %%rax, %0\n"
      ".byte 0x48\n call *%%rdx\n add %%rax, %0\n"
      "lea 1f(%%rip), %%rdx\n .byte 0x3e\n jmp *%%rdx\n ud2\n 1:\n"
      ".byte 0xf2\n jmp 2f\n ud2\n 2:\n"
      ".byte 0x48\n jmp 2f\n ud2\n 2:\n"
      "cmp %%eax, %%eax\n .byte 0x2e\n je 3f\n ud2\n 3:\n"  // predicted not taken
      ".byte 0x3e\n je 4f\n ud2\n 4:\n"                     // predicted taken
      ".byte 0xf2\n jne 5f\n"
      ".byte 0x48\n je 6f\n 5: ud2\n 6:\n"
      ".byte 0x2e, 0x36, 0x26, 0x64\n jne 5b\n"
      "add $128, %%rsp\n"
      : "+&r"(total)
      :
      : "rax", "rdx", "memory", "cc");
  EXPECT_EQ(total, 2 + 4 + 8 + 2 * 6);
  printf("%ld\n", total);
  return guest_result();
}
