// All ways to ask for the time agree with each other and never run backwards; clocks that do not exist are
// refused.
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>

#include "guest.h"

static long long ns(struct timespec t) { return t.tv_sec * 1000000000ll + t.tv_nsec; }
static long long by_libc(clockid_t clock) {
  struct timespec t = {0, 0};
  EXPECT_EQ(clock_gettime(clock, &t), 0);
  EXPECT(t.tv_nsec >= 0 && t.tv_nsec < 1000000000);
  return ns(t);
}
static long long by_kernel(clockid_t clock) {
  struct timespec t = {0, 0};
  EXPECT_EQ(raw_syscall(SYS_clock_gettime, clock, (long)&t, 0, 0, 0, 0), 0);
  return ns(t);
}

int main(void) {
  static const clockid_t kClocks[] = {CLOCK_REALTIME, CLOCK_MONOTONIC,          CLOCK_MONOTONIC_RAW,
                                      CLOCK_BOOTTIME, CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID,
                                      CLOCK_TAI};
  for (size_t c = 0; c < sizeof kClocks / sizeof kClocks[0]; c++) {
    for (int i = 0; i < 100; i++) {
      long long a = by_libc(kClocks[c]), b = by_kernel(kClocks[c]), d = by_libc(kClocks[c]);
      EXPECT(a > 0 || kClocks[c] >= CLOCK_PROCESS_CPUTIME_ID);
      EXPECT(a <= b && b <= d);
    }
    struct timespec resolution;
    EXPECT_EQ(clock_getres(kClocks[c], &resolution), 0);
    printf("clock %d: resolution %lld ns\n", kClocks[c], ns(resolution));
  }
  long long coarse = by_libc(CLOCK_REALTIME_COARSE), fine = by_libc(CLOCK_REALTIME);
  EXPECT(coarse <= fine && fine - coarse < 1000000000);
  for (int i = 0; i < 100; i++) {
    struct timeval value, raw;
    long long a = by_libc(CLOCK_REALTIME);
    EXPECT_EQ(gettimeofday(&value, NULL), 0);
    EXPECT_EQ(raw_syscall(SYS_gettimeofday, (long)&raw, 0, 0, 0, 0, 0), 0);
    long long v = value.tv_sec * 1000000ll + value.tv_usec, r = raw.tv_sec * 1000000ll + raw.tv_usec;
    EXPECT(a / 1000 <= v && v <= r && r <= by_libc(CLOCK_REALTIME) / 1000);
    time_t t = time(NULL), stored = 0;
    EXPECT(raw_syscall(SYS_time, (long)&stored, 0, 0, 0, 0, 0) >= t);
    EXPECT(stored - t <= 1 && t >= value.tv_sec - 1);
  }
  // A clock is an int, whatever the upper half of the register holds; those of processes and threads are negative.
  struct timespec shown;
  clockid_t own;
  EXPECT_EQ(raw_syscall(SYS_clock_gettime, 0x1234500000000 | CLOCK_MONOTONIC, (long)&shown, 0, 0, 0, 0), 0);
  EXPECT_EQ(clock_getcpuclockid(0, &own), 0);
  EXPECT_EQ(raw_syscall(SYS_clock_gettime, (unsigned)own, (long)&shown, 0, 0, 0, 0), 0);
  EXPECT_EQ(raw_syscall(SYS_clock_gettime, own, (long)&shown, 0, 0, 0, 0), 0);
  // Sleeping takes at least as long as asked for, by every clock.
  long long before = by_libc(CLOCK_MONOTONIC), before_real = by_libc(CLOCK_REALTIME);
  struct timespec sleep = {0, 20000000};
  EXPECT_EQ(nanosleep(&sleep, NULL), 0);
  EXPECT(by_libc(CLOCK_MONOTONIC) - before >= 20000000);
  EXPECT(by_libc(CLOCK_REALTIME) - before_real >= 19000000);
  struct timespec target;
  clock_gettime(CLOCK_MONOTONIC, &target);
  target.tv_nsec += 10000000;
  if (target.tv_nsec >= 1000000000) target.tv_sec++, target.tv_nsec -= 1000000000;
  EXPECT_EQ(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &target, NULL), 0);
  EXPECT(by_libc(CLOCK_MONOTONIC) >= ns(target));
  // Computing uses processor time.
  long long cpu = by_libc(CLOCK_PROCESS_CPUTIME_ID);
  volatile unsigned work = 1;
  for (int i = 0; i < 20000000; i++) work = work * 3 + 1;
  EXPECT(by_libc(CLOCK_PROCESS_CPUTIME_ID) > cpu);
  struct tms tms;
  EXPECT(times(&tms) != (clock_t)-1);
  struct rusage usage;
  EXPECT_EQ(getrusage(RUSAGE_SELF, &usage), 0);
  EXPECT(usage.ru_utime.tv_sec * 1000000 + usage.ru_utime.tv_usec > 0);
  EXPECT(usage.ru_maxrss > 100);
  EXPECT_ERROR(getrusage(77, &usage), EINVAL);
  struct timespec t;
  EXPECT_ERROR(clock_gettime(99, &t), EINVAL);
  EXPECT_ERROR(clock_getres(99, &t), EINVAL);
  t.tv_sec = 0, t.tv_nsec = 1000000000;
  EXPECT_ERROR(nanosleep(&t, NULL), EINVAL);
  EXPECT_EQ(raw_syscall(SYS_clock_gettime, CLOCK_MONOTONIC, 16, 0, 0, 0, 0), -EFAULT);
  EXPECT_EQ(raw_syscall(SYS_clock_settime, 99, (long)&t, 0, 0, 0, 0), -EINVAL);
  return guest_result();
}
