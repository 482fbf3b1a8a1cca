// The whole program dies of an undefined instruction, after output that must arrive.
// @signal: SIGILL
#include <signal.h>

#include "guest.h"

int main(void) {
  printf("before\n");
  fflush(stdout);
  __builtin_trap();
  printf("not reached\n");
  return 1;
}
