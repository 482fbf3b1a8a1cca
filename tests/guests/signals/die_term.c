// The whole program dies of SIGTERM, after output that must arrive.
// @signal: SIGTERM
#include <signal.h>

#include "guest.h"

int main(void) {
  printf("before\n");
  fflush(stdout);
  raise(SIGTERM);
  printf("not reached\n");
  return 1;
}
