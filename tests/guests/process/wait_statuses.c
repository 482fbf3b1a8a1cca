// wait, waitpid, waitid, wait4: exits, signals, stops and continuations, by group, without waiting, without
// reaping, with resource usage, with no child at all.
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "guest.h"

static pid_t start(int code) {
  fflush(stdout);
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    if (code >= 0) _exit(code);
    for (;;) pause();
  }
  return child;
}

int main(void) {
  int status;
  EXPECT_ERROR(wait(&status), ECHILD);
  EXPECT_ERROR(waitpid(-1, &status, WNOHANG), ECHILD);
  EXPECT_ERROR(waitpid(getpid(), &status, 0), ECHILD);
  EXPECT_ERROR(waitpid(-1, &status, 0x1234), EINVAL);
  pid_t child = start(0);
  EXPECT_EQ(wait(&status), child);
  EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  child = start(300);
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 300 & 255);

  child = start(-1);
  EXPECT_EQ(waitpid(child, &status, WNOHANG), 0);
  siginfo_t info;
  info.si_pid = 77;
  EXPECT_EQ(waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG), 0);
  EXPECT_EQ(info.si_pid, 0);
  kill(child, SIGSTOP);
  EXPECT_EQ(waitpid(child, &status, WUNTRACED), child);
  EXPECT(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
  EXPECT_EQ(waitpid(child, &status, WUNTRACED | WNOHANG), 0);  // told once
  kill(child, SIGCONT);
  EXPECT_EQ(waitpid(child, &status, WCONTINUED), child);
  EXPECT(WIFCONTINUED(status));
  kill(child, SIGSTOP);
  EXPECT_EQ(waitid(P_PID, (id_t)child, &info, WSTOPPED), 0);
  printf("waitid: code %d, status %d\n", info.si_code, info.si_status);
  EXPECT(info.si_code == CLD_STOPPED && info.si_status == SIGSTOP && info.si_pid == child);
  kill(child, SIGKILL);
  EXPECT_EQ(waitid(P_ALL, 0, &info, WEXITED | WNOWAIT), 0);
  EXPECT(info.si_code == CLD_KILLED && info.si_status == SIGKILL);
  struct rusage usage;
  memset(&usage, 0xff, sizeof usage);
  EXPECT_EQ(wait4(child, &status, 0, &usage), child);
  EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && !WCOREDUMP(status));
  EXPECT(usage.ru_utime.tv_sec == 0);

  // By process group.
  pid_t one = start(-1), two = start(5);
  EXPECT_EQ(setpgid(one, one), 0);
  kill(one, SIGTERM);
  EXPECT_EQ(waitpid(-one, &status, 0), one);
  EXPECT_EQ(WTERMSIG(status), SIGTERM);
  EXPECT_EQ(waitpid(0, &status, 0), two);
  EXPECT_EQ(waitid(P_PGID, (id_t)getpgrp(), &info, WEXITED | WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);

  // Twenty in any order.
  pid_t children[20];
  for (int i = 0; i < 20; i++) children[i] = start(i);
  int seen = 0;
  for (int i = 0; i < 20; i++) {
    pid_t got = wait(&status);
    for (int k = 0; k < 20; k++) {
      if (children[k] == got) {
        EXPECT_EQ(WEXITSTATUS(status), k);
        seen++;
      }
    }
  }
  EXPECT_EQ(seen, 20);
  getrusage(RUSAGE_CHILDREN, &usage);
  EXPECT(usage.ru_maxrss > 0);
  return guest_result();
}
