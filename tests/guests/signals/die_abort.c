// The whole program dies of abort, after output that must arrive.
// @signal: SIGABRT
#include <signal.h>

#include "guest.h"

int main(void) {
  printf("before\n");
  fflush(stdout);
  abort();
  printf("not reached\n");
  return 1;
}
