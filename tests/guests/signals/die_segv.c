// The whole program dies of a write to nowhere, after output that must arrive.
// @signal: SIGSEGV
#include <signal.h>

#include "guest.h"

int main(void) {
  printf("before\n");
  fflush(stdout);
  *(volatile int*)16 = 1;
  printf("not reached\n");
  return 1;
}
