// A forked child computes for longer than its parent ever does, until its alarm: it is interrupted, whatever was asked of
// the parent.
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "guest.h"

static volatile sig_atomic_t rung;

static void on_alarm(int signo) {
  (void)signo;
  rung = 1;
}

static int compute(void) {
  struct sigaction action = {.sa_handler = on_alarm};
  REQUIRE(sigaction(SIGALRM, &action, NULL) == 0);
  struct itimerval soon = {.it_value.tv_usec = 50000};
  REQUIRE(setitimer(ITIMER_REAL, &soon, NULL) == 0);
  while (!rung) {
  }
  return 7;
}

int main(void) {
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) _exit(compute());
  int status;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 7);
  printf("the child was interrupted\n");
  return 0;
}
