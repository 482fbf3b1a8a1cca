// Prints its arguments and some of its state; ends with the status in its second argument. Helper of other
// guests.
#include <signal.h>

#include "guest.h"

int main(int argc, char** argv) {
  sigset_t mask;
  sigprocmask(SIG_BLOCK, NULL, &mask);
  printf("report:");
  for (int i = 1; i < argc; i++) printf(" %s", argv[i]);
  printf("; blocked %d, mark %s, leader %d\n", sigismember(&mask, SIGUSR1),
         getenv("MARK") ? getenv("MARK") : "none", getpgrp() == getpid());
  fflush(stdout);
  return argc > 1 ? atoi(argv[1]) : 0;
}
