// Timers that send signals: alarm, setitimer (real, virtual, profiling), timer_create by signal, to a thread,
// by thread; what reads back, and switching off.
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>

#include "guest.h"

static volatile sig_atomic_t counts[65];
static volatile int timer_code, timer_value;

static void count(int number, siginfo_t* info, void* context) {
  (void)context;
  counts[number]++;
  timer_code = info->si_code;
  timer_value = info->si_value.sival_int;
}

static volatile int thread_calls;
static void thread_function(union sigval value) {
  __atomic_fetch_add(&thread_calls, value.sival_int, __ATOMIC_SEQ_CST);
}

static void wait_for(int number, int wanted) {
  sigset_t blocked, old;
  sigemptyset(&blocked);
  sigaddset(&blocked, number);
  sigprocmask(SIG_BLOCK, &blocked, &old);
  sigdelset(&old, number);
  while (counts[number] < wanted) sigsuspend(&old);
  sigprocmask(SIG_UNBLOCK, &blocked, NULL);
}

static volatile unsigned work;
static void burn_until(int number, int wanted) {
  while (counts[number] < wanted) work = work * 5 + 1;
}

int main(void) {
  struct sigaction action = {.sa_sigaction = count, .sa_flags = SA_SIGINFO | SA_RESTART};
  static const int kSignals[] = {SIGALRM, SIGVTALRM, SIGPROF, SIGUSR1};
  for (int i = 0; i < 4; i++) REQUIRE(sigaction(kSignals[i], &action, NULL) == 0);
  REQUIRE(sigaction(SIGRTMIN, &action, NULL) == 0);

  EXPECT_EQ(alarm(1000), 0);
  EXPECT(alarm(0) >= 999);
  EXPECT_EQ(alarm(1), 0);
  wait_for(SIGALRM, 1);
  printf("alarm rang, code %d\n", timer_code);
  EXPECT_EQ(alarm(0), 0);

  struct itimerval timer = {{0, 3000}, {0, 3000}}, now;
  EXPECT_EQ(setitimer(ITIMER_REAL, &timer, NULL), 0);
  EXPECT_EQ(getitimer(ITIMER_REAL, &now), 0);
  EXPECT_EQ(now.it_interval.tv_usec, 3000);
  wait_for(SIGALRM, 6);
  memset(&timer, 0, sizeof timer);
  EXPECT_EQ(setitimer(ITIMER_REAL, &timer, &now), 0);
  EXPECT_EQ(now.it_interval.tv_usec, 3000);
  printf("real timer rang at least 5 times\n");

  timer.it_value.tv_usec = timer.it_interval.tv_usec = 5000;
  EXPECT_EQ(setitimer(ITIMER_VIRTUAL, &timer, NULL), 0);
  burn_until(SIGVTALRM, 3);
  memset(&timer, 0, sizeof timer);
  EXPECT_EQ(setitimer(ITIMER_VIRTUAL, &timer, NULL), 0);
  printf("virtual timer\n");
  timer.it_value.tv_usec = timer.it_interval.tv_usec = 5000;
  EXPECT_EQ(setitimer(ITIMER_PROF, &timer, NULL), 0);
  burn_until(SIGPROF, 3);
  memset(&timer, 0, sizeof timer);
  EXPECT_EQ(setitimer(ITIMER_PROF, &timer, NULL), 0);
  printf("profiling timer\n");
  EXPECT_ERROR(setitimer(7, &timer, NULL), EINVAL);

  timer_t id;
  struct sigevent event;
  memset(&event, 0, sizeof event);
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGRTMIN;
  event.sigev_value.sival_int = 77;
  EXPECT_EQ(timer_create(CLOCK_MONOTONIC, &event, &id), 0);
  struct itimerspec spec = {{0, 2000000}, {0, 2000000}}, current;
  EXPECT_EQ(timer_settime(id, 0, &spec, NULL), 0);
  wait_for(SIGRTMIN, 3);
  EXPECT_EQ(timer_gettime(id, &current), 0);
  EXPECT_EQ(current.it_interval.tv_nsec, 2000000);
  EXPECT(timer_getoverrun(id) >= 0);
  EXPECT_EQ(timer_delete(id), 0);
  printf("posix timer, code %d, value %d\n", timer_code, timer_value);
  EXPECT_EQ(timer_code, SI_TIMER);
  EXPECT_ERROR(timer_delete(id), EINVAL);

  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGUSR1;
  event._sigev_un._tid = gettid();
  EXPECT_EQ(timer_create(CLOCK_REALTIME, &event, &id), 0);
  memset(&spec, 0, sizeof spec);
  spec.it_value.tv_nsec = 1;
  EXPECT_EQ(timer_settime(id, 0, &spec, NULL), 0);
  wait_for(SIGUSR1, 1);
  EXPECT_EQ(timer_delete(id), 0);
  printf("posix timer to a thread\n");

  memset(&event, 0, sizeof event);
  event.sigev_notify = SIGEV_THREAD;
  event.sigev_notify_function = thread_function;
  event.sigev_value.sival_int = 1;
  EXPECT_EQ(timer_create(CLOCK_MONOTONIC, &event, &id), 0);
  spec.it_interval.tv_nsec = 2000000;
  EXPECT_EQ(timer_settime(id, 0, &spec, NULL), 0);
  while (__atomic_load_n(&thread_calls, __ATOMIC_SEQ_CST) < 3) usleep(1000);
  EXPECT_EQ(timer_delete(id), 0);
  printf("posix timer by thread\n");
  return guest_result();
}
