// All the ways to end, each in a child: return, exit with handlers, _exit without, quick_exit, the last
// thread's end, the bare calls, from a signal handler, with a status that does not fit.
// @recorded-part: child processes are not recorded
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "guest.h"

static void note(void) { printf("  handler\n"); }
static void quick(void) {
  printf("  quick handler\n");
  fflush(stdout);
}
static void leave(int number) { _exit(number + 50); }
static void* end_process(void* argument) {
  exit((int)(long)argument);
  return NULL;
}
static void* end_thread(void* argument) { return argument; }

static int child(int how) {
  pthread_t thread;
  atexit(note);
  at_quick_exit(quick);
  switch (how) {
    case 0:
      return 11;
    case 1:
      exit(12);
    case 2:
      _exit(13);
    case 3:
      quick_exit(14);
    case 4:
      pthread_create(&thread, NULL, end_process, (void*)15);
      pthread_join(thread, NULL);
      return 1;
    case 5:
      pthread_create(&thread, NULL, end_thread, NULL);
      pthread_detach(thread);
      pthread_exit(NULL);
    case 6:
      syscall(SYS_exit, 16);
      return 1;
    case 7:
      syscall(SYS_exit_group, 17);
      return 1;
    case 8:
      signal(SIGUSR1, leave);
      raise(SIGUSR1);
      return 1;
    case 9:
      exit(256 + 18);
    case 10:
      exit(-1);
  }
  return 0;
}

int main(void) {
  for (int how = 0; how <= 10; how++) {
    printf("case %d\n", how);
    fflush(stdout);
    pid_t pid = fork();
    REQUIRE(pid >= 0);
    if (pid == 0) return child(how);
    int status;
    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    printf("  status %x\n", (unsigned)status);
  }
  return guest_result();
}
