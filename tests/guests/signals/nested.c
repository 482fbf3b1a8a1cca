// Signals inside handlers: masks, SA_NODEFER, SA_RESETHAND, sa_mask, order of delivery of what was pending.
#include <signal.h>

#include "guest.h"

static volatile int depth, reset_calls;

static void log_handler(int number) { printf("%*ssignal %d\n", depth * 2, "", number); }

static void recursive(int number) {
  log_handler(number);
  depth++;
  if (depth < 4) raise(number);
  depth--;
  printf("%*sleave\n", depth * 2, "");
}

static void deferring(int number) {
  log_handler(number);
  depth++;
  raise(number);   // blocked while we run
  raise(SIGUSR2);  // blocked by sa_mask
  raise(SIGURG);   // not blocked
  sigset_t pending;
  sigpending(&pending);
  printf("%*spending %d %d %d\n", depth * 2, "", sigismember(&pending, number),
         sigismember(&pending, SIGUSR2), sigismember(&pending, SIGURG));
  depth--;
  if (number == SIGUSR1) signal(SIGUSR1, log_handler);
  printf("leave\n");
}

static void once(int number) {
  (void)number;
  reset_calls++;
}

static void install(int number, void (*handler)(int), int flags, int masked) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
  sigemptyset(&action.sa_mask);
  if (masked) sigaddset(&action.sa_mask, masked);
  REQUIRE(sigaction(number, &action, NULL) == 0);
}

int main(void) {
  install(SIGUSR1, recursive, SA_NODEFER, 0);
  raise(SIGUSR1);
  install(SIGUSR2, log_handler, 0, 0);
  install(SIGURG, log_handler, 0, 0);
  install(SIGUSR1, deferring, 0, SIGUSR2);
  raise(SIGUSR1);

  install(SIGWINCH, once, SA_RESETHAND, 0);
  raise(SIGWINCH);
  raise(SIGWINCH);  // ignored by default now
  EXPECT_EQ(reset_calls, 1);
  struct sigaction now;
  sigaction(SIGWINCH, NULL, &now);
  EXPECT(now.sa_handler == SIG_DFL);

  // Pending ones: the lowest number's handler runs last, because each next one interrupts the one before.
  install(SIGRTMIN + 3, log_handler, 0, 0);
  install(SIGRTMIN + 1, log_handler, 0, 0);
  install(SIGUSR1, log_handler, 0, 0);
  sigset_t all, old;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &old);
  raise(SIGRTMIN + 3);
  raise(SIGUSR2);
  raise(SIGRTMIN + 1);
  raise(SIGUSR1);
  raise(SIGRTMIN + 3);
  raise(SIGUSR1);  // one of two standard signals is lost
  printf("unblock\n");
  fflush(stdout);
  sigprocmask(SIG_SETMASK, &old, NULL);
  return guest_result();
}
