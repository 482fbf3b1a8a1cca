// Children that are killed: computing, sleeping, reading, in a system call loop, with threads; by signal, by
// group; what they wrote before is there, the parent goes on.
// @not-replayed: children, which are not recorded, store into shared memory
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "guest.h"

static volatile long* progress;
static volatile unsigned work;

static void* compute(void* argument) {
  for (;;) {
    work = work * 3 + 1;
    ++*progress;
  }
  return argument;
}

static void child(int how) {
  int ends[2];
  char byte;
  if (pipe(ends) != 0) _exit(1);
  ++*progress;
  pthread_t thread;
  switch (how) {
    case 0:
      compute(NULL);
      break;
    case 1:
      for (;;) sleep(100);
    case 2:
      if (read(ends[0], &byte, 1)) _exit(1);
      break;
    case 3:
      for (;;) getppid();
    case 4:
      for (int i = 0; i < 4; i++) pthread_create(&thread, NULL, compute, NULL);
      pthread_exit(NULL);
  }
  _exit(1);
}

int main(void) {
  progress = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  static const int kSignals[] = {SIGKILL, SIGTERM, SIGABRT};
  fflush(stdout);
  for (int how = 0; how < 5; how++) {
    for (int k = 0; k < 3; k++) {
      *progress = 0;
      pid_t pid = fork();
      REQUIRE(pid >= 0);
      if (pid == 0) child(how);
      while (*progress == 0) usleep(200);
      usleep(2000);
      EXPECT_EQ(kill(pid, kSignals[k]), 0);
      int status;
      EXPECT_EQ(waitpid(pid, &status, 0), pid);
      EXPECT(WIFSIGNALED(status));
      EXPECT_EQ(WTERMSIG(status), kSignals[k]);
      EXPECT_ERROR(kill(pid, 0), ESRCH);
    }
    printf("case %d\n", how);
    fflush(stdout);
  }
  // A whole group.
  pid_t group = 0, pids[5];
  for (int i = 0; i < 5; i++) {
    pids[i] = fork();
    if (pids[i] == 0) {
      for (;;) pause();
    }
    if (i == 0) group = pids[0];
    EXPECT_EQ(setpgid(pids[i], group), 0);
  }
  EXPECT_EQ(kill(-group, SIGTERM), 0);
  for (int i = 0; i < 5; i++) {
    int status;
    EXPECT_EQ(waitpid(pids[i], &status, 0), pids[i]);
    EXPECT_EQ(WTERMSIG(status), SIGTERM);
  }
  return guest_result();
}
