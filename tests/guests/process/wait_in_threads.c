// One thread waits for the children another one starts; a signal handler for SIGCHLD reaps while the program
// works.
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "guest.h"

enum { kChildren = 40 };
static volatile int reaped, sum;

static void* reaper(void* argument) {
  for (int i = 0; i < kChildren;) {
    int status;
    pid_t child = wait(&status);
    if (child < 0) {
      EXPECT_EQ(errno, ECHILD);  // none yet
      usleep(200);
      continue;
    }
    sum += WEXITSTATUS(status);
    i++;
  }
  return argument;
}

static void on_child(int number) {
  (void)number;
  int kept = errno, status;
  while (waitpid(-1, &status, WNOHANG) > 0) {
    reaped++;
    sum += WEXITSTATUS(status);
  }
  errno = kept;
}

int main(void) {
  fflush(stdout);
  pthread_t thread;
  REQUIRE(pthread_create(&thread, NULL, reaper, NULL) == 0);
  for (int i = 0; i < kChildren; i++) {
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) _exit(i);
  }
  REQUIRE(pthread_join(thread, NULL) == 0);
  EXPECT_EQ(sum, kChildren * (kChildren - 1) / 2);
  sum = 0;
  struct sigaction action = {.sa_handler = on_child, .sa_flags = SA_RESTART};
  sigaction(SIGCHLD, &action, NULL);
  for (int i = 0; i < kChildren; i++) {
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) _exit(i);
  }
  while (reaped < kChildren) usleep(1000);
  EXPECT_EQ(sum, kChildren * (kChildren - 1) / 2);
  printf("%d\n", sum);
  return guest_result();
}
