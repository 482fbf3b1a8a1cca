// The whole program dies of a breakpoint instruction, after output that must arrive.
// @signal: SIGTRAP
#include <signal.h>

#include "guest.h"

int main(void) {
  printf("before\n");
  fflush(stdout);
  __asm__ volatile("int3");
  printf("not reached\n");
  return 1;
}
