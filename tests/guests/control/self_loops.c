// Jump shapes that are hard on block linking: loops onto themselves, nested loops, blocks entered in the
// middle, conditional jumps to the next instruction, jumps over one instruction, two loops that share a tail.
#include "guest.h"

int main(void) {
  long count = 0;
  __asm__ volatile(
      "mov $100000, %%ecx\n 1: dec %%ecx\n jnz 1b\n"
      // nested, three deep
      "mov $20, %%edx\n 2: mov $20, %%esi\n 3: mov $20, %%edi\n 4: inc %0\n dec %%edi\n jnz 4b\n dec %%esi\n "
      "jnz 3b\n"
      "dec %%edx\n jnz 2b\n"
      // a block entered in the middle, then from its start
      "mov $10, %%ecx\n jmp 6f\n 5: add $1000, %0\n 6: add $100000, %0\n dec %%ecx\n jnz 5b\n"
      // conditional jump to the next instruction, taken and not taken
      "xor %%eax, %%eax\n jz 7f\n 7: jnz 8f\n 8: inc %0\n"
      // over one instruction, inside a loop, alternating
      "mov $100, %%ecx\n 9: test $1, %%cl\n jz 10f\n inc %0\n 10: dec %%ecx\n jnz 9b\n"
      // two loops with one tail
      "mov $5, %%ecx\n xor %%edx, %%edx\n 11: inc %0\n jmp 13f\n 12: add $2, %0\n 13: dec %%ecx\n jz 14f\n "
      "test $1, %%cl\n"
      "jz 11b\n jmp 12b\n 14: test %%edx, %%edx\n jnz 15f\n inc %%edx\n mov $6, %%ecx\n jmp 12b\n 15:\n"
      : "+r"(count)
      :
      : "rax", "rcx", "rdx", "rsi", "rdi", "cc");
  printf("%ld\n", count);
  return guest_result();
}
