// Scheduling calls: affinity, priorities, policies, yielding, the current processor.
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "guest.h"

int main(void) {
  cpu_set_t set, again;
  EXPECT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  printf("%d processors\n", CPU_COUNT(&set));
  EXPECT(CPU_COUNT(&set) >= 1);
  int first = 0;
  while (!CPU_ISSET(first, &set)) first++;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  EXPECT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(sched_getaffinity(0, sizeof again, &again), 0);
  EXPECT_EQ(CPU_COUNT(&again), 1);
  EXPECT_EQ(sched_setaffinity(0, sizeof set, &set), 0);
  CPU_ZERO(&one);
  EXPECT_ERROR(sched_setaffinity(0, sizeof one, &one), EINVAL);
  EXPECT_ERROR(syscall(SYS_sched_getaffinity, 0, 1, &set), EINVAL);
  EXPECT_ERROR(sched_getaffinity(0x7ffffffe, sizeof set, &set), ESRCH);
  for (int i = 0; i < 100; i++) EXPECT_EQ(sched_yield(), 0);
  unsigned cpu = 9999, node = 9999;
  EXPECT_EQ(getcpu(&cpu, &node), 0);
  EXPECT(cpu < 4096 && node < 1024);
  EXPECT(sched_getcpu() >= 0);
  EXPECT_EQ(sched_getscheduler(0), SCHED_OTHER);
  struct sched_param parameter;
  EXPECT_EQ(sched_getparam(0, &parameter), 0);
  EXPECT_EQ(parameter.sched_priority, 0);
  printf("priorities %d to %d\n", sched_get_priority_min(SCHED_FIFO), sched_get_priority_max(SCHED_FIFO));
  errno = 0;
  int nice_now = getpriority(PRIO_PROCESS, 0);
  EXPECT_EQ(errno, 0);
  EXPECT_EQ(setpriority(PRIO_PROCESS, 0, nice_now + 1), 0);
  EXPECT_EQ(getpriority(PRIO_PROCESS, 0), nice_now + 1);
  EXPECT_EQ(nice(1), nice_now + 2);
  EXPECT_ERROR(sched_setscheduler(0, 99, &parameter), EINVAL);
  struct timespec interval;
  EXPECT_EQ(sched_rr_get_interval(0, &interval), 0);
  return guest_result();
}
