// Resource limits: all readable, set ones read back, by getrlimit, prlimit and after fork; impossible ones
// are refused.
#include <sys/resource.h>
#include <sys/wait.h>

#include "guest.h"

int main(void) {
  struct rlimit limit, again;
  for (int i = 0; i < RLIM_NLIMITS; i++) EXPECT_EQ(getrlimit((__rlimit_resource_t)i, &limit), 0);
  EXPECT_ERROR(getrlimit((__rlimit_resource_t)99, &limit), EINVAL);
  static const __rlimit_resource_t kKinds[] = {RLIMIT_CORE,   RLIMIT_FSIZE, RLIMIT_STACK, RLIMIT_CPU,
                                               RLIMIT_NOFILE, RLIMIT_AS,    RLIMIT_DATA};
  for (size_t i = 0; i < sizeof kKinds / sizeof kKinds[0]; i++) {
    EXPECT_EQ(getrlimit(kKinds[i], &limit), 0);
    rlim_t hard = limit.rlim_max;
    limit.rlim_cur = kKinds[i] >= RLIMIT_AS || kKinds[i] == RLIMIT_DATA ? 4ul << 30 : 4000 + i;
    if (hard < limit.rlim_cur) continue;
    EXPECT_EQ(setrlimit(kKinds[i], &limit), 0);
    EXPECT_EQ(prlimit(0, kKinds[i], NULL, &again), 0);
    EXPECT(again.rlim_cur == limit.rlim_cur && again.rlim_max == hard);
    EXPECT_EQ(prlimit(getpid(), kKinds[i], NULL, &again), 0);
    EXPECT(again.rlim_cur == limit.rlim_cur);
  }
  limit.rlim_cur = 100;
  limit.rlim_max = 50;
  EXPECT_ERROR(setrlimit(RLIMIT_NOFILE, &limit), EINVAL);
  fflush(stdout);
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    getrlimit(RLIMIT_CORE, &limit);
    _exit(limit.rlim_cur == 4000 || limit.rlim_max < 4000 ? 0 : 1);
  }
  int status;
  EXPECT(waitpid(child, &status, 0) == child);
  EXPECT_EQ(status, 0);
  return guest_result();
}
