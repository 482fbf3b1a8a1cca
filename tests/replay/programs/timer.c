// A thousand ticks of an interval timer, and how far the program had counted at each.
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

static volatile long counter, ticks;
static unsigned long hash = 1469598103934665603ul;

static void on_tick(int number) {
  (void)number;
  ticks++;
  hash = (hash ^ (unsigned long)counter) * 1099511628211ul;
}

int main(void) {
  signal(SIGALRM, on_tick);
  struct itimerval interval = {{0, 300}, {0, 300}};
  setitimer(ITIMER_REAL, &interval, NULL);
  while (ticks < 1000) counter++;
  struct itimerval off = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &off, NULL);
  printf("%ld ticks, hash %lx, counter %ld\n", ticks, hash, counter);
  return 0;
}
