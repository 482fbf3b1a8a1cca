// SIGCHLD: its information for children that exit, are killed, stop and continue; SA_NOCLDSTOP, SA_NOCLDWAIT,
// SIG_IGN.
#include <signal.h>
#include <sys/wait.h>

#include "guest.h"

static volatile int calls;
static siginfo_t last;

static void handler(int number, siginfo_t* info, void* context) {
  (void)number;
  (void)context;
  calls++;
  last = *info;
}

static sigset_t chld, without;

static void wait_call(void) {
  while (calls == 0) sigsuspend(&without);
}

static void expect(const char* what, pid_t child, int code, int status) {
  wait_call();
  printf("%s: code %d, status %d\n", what, last.si_code, last.si_status);
  EXPECT_EQ(last.si_pid, child);
  EXPECT_EQ(last.si_code, code);
  EXPECT_EQ(last.si_status, status);
  calls = 0;
}

static pid_t start(int how) {
  fflush(stdout);
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    sigprocmask(SIG_SETMASK, &without, NULL);
    if (how == 0) _exit(42);
    if (how == 1) raise(SIGKILL);
    if (how == 2) {
      signal(SIGTERM, SIG_DFL);
      raise(SIGTERM);
    }
    if (how == 3) {
      raise(SIGSTOP);
      for (;;) pause();
    }
    _exit(99);
  }
  return child;
}

int main(void) {
  sigemptyset(&chld);
  sigaddset(&chld, SIGCHLD);
  sigprocmask(SIG_BLOCK, &chld, &without);
  sigdelset(&without, SIGCHLD);
  struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
  REQUIRE(sigaction(SIGCHLD, &action, NULL) == 0);
  int status;
  pid_t child = start(0);
  expect("exit", child, CLD_EXITED, 42);
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 42);
  child = start(1);
  expect("kill", child, CLD_KILLED, SIGKILL);
  EXPECT_EQ(waitpid(child, &status, 0), child);
  child = start(2);
  expect("terminate", child, CLD_KILLED, SIGTERM);
  EXPECT_EQ(waitpid(child, &status, 0), child);
  child = start(3);
  expect("stop", child, CLD_STOPPED, SIGSTOP);
  EXPECT_EQ(waitpid(child, &status, WUNTRACED), child);
  EXPECT(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
  kill(child, SIGCONT);
  expect("continue", child, CLD_CONTINUED, SIGCONT);
  kill(child, SIGTERM);
  expect("terminate after that", child, CLD_KILLED, SIGTERM);
  EXPECT_EQ(waitpid(child, &status, 0), child);

  action.sa_flags = SA_SIGINFO | SA_NOCLDSTOP;
  REQUIRE(sigaction(SIGCHLD, &action, NULL) == 0);
  child = start(3);
  EXPECT_EQ(waitpid(child, &status, WUNTRACED), child);
  sigset_t pending;
  sigpending(&pending);
  EXPECT(!sigismember(&pending, SIGCHLD));
  kill(child, SIGCONT);
  kill(child, SIGTERM);
  expect("terminate after an unseen stop", child, CLD_KILLED, SIGTERM);
  EXPECT_EQ(waitpid(child, &status, 0), child);

  action.sa_flags = SA_SIGINFO | SA_NOCLDWAIT;
  REQUIRE(sigaction(SIGCHLD, &action, NULL) == 0);
  child = start(0);
  EXPECT_ERROR(waitpid(child, &status, 0), ECHILD);
  wait_call();
  calls = 0;
  signal(SIGCHLD, SIG_IGN);
  child = start(0);
  EXPECT_ERROR(wait(&status), ECHILD);
  EXPECT_EQ(calls, 0);
  return guest_result();
}
