// Who and where am I: ids by libc, by the bare call and by /proc agree; uname, groups, working directory,
// umask.
#include <grp.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

#include "guest.h"

static long bare(long number) { return raw_syscall(number, 0, 0, 0, 0, 0, 0); }

int main(void) {
  EXPECT_EQ(getpid(), bare(SYS_getpid));
  EXPECT_EQ(gettid(), bare(SYS_gettid));
  EXPECT_EQ(getpid(), gettid());
  EXPECT_EQ(getppid(), bare(SYS_getppid));
  EXPECT_EQ(getuid(), bare(SYS_getuid));
  EXPECT_EQ(getegid(), bare(SYS_getegid));
  EXPECT_EQ(getpgrp(), bare(SYS_getpgrp));
  EXPECT_EQ(getpgid(0), getpgrp());
  EXPECT_EQ(getsid(0), getsid(getpid()));
  char link[64], number[64];
  EXPECT(readlink("/proc/self", link, sizeof link) > 0);
  EXPECT_EQ(atoi(link), getpid());
  ssize_t length = readlink("/proc/thread-self", link, sizeof link - 1);
  REQUIRE(length > 0);
  link[length] = 0;
  snprintf(number, sizeof number, "%d/task/%d", getpid(), gettid());
  EXPECT(strcmp(link, number) == 0);
  uid_t real, effective, saved;
  EXPECT_EQ(getresuid(&real, &effective, &saved), 0);
  EXPECT_EQ(effective, geteuid());
  gid_t groups[64];
  int count = getgroups(64, groups);
  EXPECT(count >= 0);
  struct utsname name;
  EXPECT_EQ(uname(&name), 0);
  printf("%s %s, release %s\n", name.sysname, name.machine, name.release);
  char host[256];
  EXPECT_EQ(gethostname(host, sizeof host), 0);
  EXPECT(strcmp(host, name.nodename) == 0);
  struct sysinfo info;
  EXPECT_EQ(sysinfo(&info), 0);
  EXPECT(info.totalram > 1 << 20 && info.procs > 0);
  printf("page %d, processors %ld\n", getpagesize(), sysconf(_SC_NPROCESSORS_ONLN));
  char cwd[4096];
  EXPECT(getcwd(cwd, sizeof cwd) != NULL);
  EXPECT(strcmp(cwd, getenv("HOME")) == 0);  // the runner starts us there
  EXPECT(getcwd(cwd, 2) == NULL && errno == ERANGE);
  mode_t old = umask(027);
  EXPECT_EQ(umask(old), 027);
  EXPECT_ERROR(getsid(0x7ffffffe), ESRCH);
  return guest_result();
}
