// The whole program dies of SIGKILL sent to itself, after output that must arrive.
// @signal: SIGKILL
#include <signal.h>

#include "guest.h"

int main(void) {
  printf("before\n");
  fflush(stdout);
  kill(getpid(), SIGKILL);
  printf("not reached\n");
  return 1;
}
