// sigaction: what is stored is what reads back; refusals; signal(); unsupported flags are dropped as the
// kernel does.
#include <signal.h>
#include <sys/syscall.h>

#include "guest.h"

static void handler(int number) { (void)number; }
static void other(int number) { (void)number; }
struct kernel_sigaction {
  void* handler;
  unsigned long flags;
  void* restorer;
  unsigned long mask;
};

int main(void) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART | SA_NODEFER}, old;
  sigemptyset(&action.sa_mask);
  sigaddset(&action.sa_mask, SIGUSR2);
  EXPECT_EQ(sigaction(SIGUSR1, &action, &old), 0);
  EXPECT(old.sa_handler == SIG_DFL);
  EXPECT_EQ(sigaction(SIGUSR1, NULL, &old), 0);
  EXPECT(old.sa_handler == handler);
  EXPECT_EQ(old.sa_flags & ~0x04000000, SA_RESTART | SA_NODEFER);
  EXPECT(sigismember(&old.sa_mask, SIGUSR2));
  EXPECT(!sigismember(&old.sa_mask, SIGUSR1));
  EXPECT(signal(SIGUSR1, other) == handler);
  EXPECT(signal(SIGUSR1, SIG_IGN) == other);
  EXPECT(signal(SIGUSR1, SIG_DFL) == SIG_IGN);
  EXPECT_ERROR(sigaction(SIGKILL, &action, NULL), EINVAL);
  EXPECT_ERROR(sigaction(SIGSTOP, &action, NULL), EINVAL);
  EXPECT_ERROR(sigaction(0, &action, NULL), EINVAL);
  EXPECT_ERROR(sigaction(65, &action, NULL), EINVAL);
  EXPECT_EQ(sigaction(SIGKILL, NULL, &old), 0);
  EXPECT_ERROR(syscall(SYS_rt_sigaction, SIGUSR1, NULL, NULL, 4), EINVAL);
  EXPECT_ERROR(syscall(SYS_rt_sigaction, SIGUSR1, (void*)16, NULL, 8), EFAULT);
  struct kernel_sigaction raw = {(void*)handler, 0x04000000 | 0x400 /* SA_UNSUPPORTED */, (void*)other, ~0ul},
                          back;
  EXPECT_EQ(syscall(SYS_rt_sigaction, SIGUSR1, &raw, NULL, 8), 0);
  EXPECT_EQ(syscall(SYS_rt_sigaction, SIGUSR1, NULL, &back, 8), 0);
  printf("flags %lx, mask %lx\n", back.flags, back.mask);
  EXPECT(back.restorer == (void*)other);
  // A pending signal is dropped when it becomes ignored.
  sigset_t set, pending;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  sigprocmask(SIG_BLOCK, &set, NULL);
  raise(SIGUSR2);
  signal(SIGUSR2, SIG_IGN);
  sigpending(&pending);
  EXPECT(!sigismember(&pending, SIGUSR2));
  raise(SIGUSR2);
  sigpending(&pending);
  printf("ignored and blocked: pending %d\n", sigismember(&pending, SIGUSR2));
  return guest_result();
}
