/* A fault with a handler, timers, a signal to itself, and a crash at the end. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

static sigjmp_buf back;
volatile int faults, alarms, asked;
volatile long work;

static void on_fault(int number) {
  (void)number;
  ++faults;  // in fault handler
  siglongjmp(back, 1);
}
/* One at a time, however late the processor is. */
static void ask_for_alarm(void) {
  const struct itimerval soon = {{0, 0}, {0, 2000}};
  setitimer(ITIMER_REAL, &soon, NULL);
}
static void on_alarm(int number) {
  (void)number;
  ++alarms;  // in alarm handler
  if (alarms < 3) ask_for_alarm();
}
static void on_asked(int number) {
  (void)number;
  ++asked;  // in asked handler
}

int main(int argc, char **argv) {
  signal(SIGSEGV, on_fault);
  signal(SIGALRM, on_alarm);
  signal(SIGUSR1, on_asked);
  if (sigsetjmp(back, 1) == 0) *(volatile int *)16 = 1;  // fault
  raise(SIGUSR1);                                        // raise
  ask_for_alarm();
  while (alarms < 3) ++work;  // busy
  printf("%d %d %d\n", faults, alarms, asked);
  if (argc > 1 && strcmp(argv[1], "crash") == 0) {
    signal(SIGSEGV, SIG_DFL);
    *(volatile int *)32 = 2;  // crash
  }
  return 0;
}
