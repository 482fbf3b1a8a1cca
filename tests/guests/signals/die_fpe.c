// The whole program dies of a division by zero, after output that must arrive.
// @signal: SIGFPE
#include <signal.h>

#include "guest.h"

int main(void) {
  printf("before\n");
  fflush(stdout);
  __asm__ volatile("xor %%ecx, %%ecx\n idiv %%ecx" : : : "rax", "rcx", "rdx");
  printf("not reached\n");
  return 1;
}
