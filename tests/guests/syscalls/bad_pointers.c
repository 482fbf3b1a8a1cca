// Bad addresses in system calls give EFAULT (or what the kernel checks first), never a signal: nowhere,
// unmapped, read-only, in the kernel, wrapping around.
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "guest.h"

static int file, ends[2], sockets[2];

#define CASE(name, ...)                \
  {                                    \
#name, SYS_##name, { __VA_ARGS__ } \
  }
enum { kBad = 0x7bad };  // stands for the address under test

int main(void) {
  REQUIRE(pipe(ends) == 0 && socketpair(AF_UNIX, SOCK_DGRAM, 0, sockets) == 0);
  file = open("file", O_RDWR | O_CREAT, 0600);
  REQUIRE(write(file, "0123456789", 10) == 10);
  REQUIRE(write(ends[1], "0123456789", 10) == 10);
  const struct {
    const char* name;
    long number;
    long arguments[6];
  } cases[] = {
      CASE(read, ends[0], kBad, 4),
      CASE(pread64, file, kBad, 4, 0),
      CASE(write, ends[1], kBad, 4),
      CASE(pwrite64, file, kBad, 4, 0),
      CASE(open, kBad, O_RDONLY),
      CASE(openat, AT_FDCWD, kBad, O_RDONLY),
      CASE(stat, kBad, kBad),
      CASE(fstat, file, kBad),
      CASE(newfstatat, AT_FDCWD, kBad, kBad, 0),
      CASE(access, kBad, 0),
      CASE(readlink, kBad, kBad, 10),
      CASE(getcwd, kBad, 4096),
      CASE(chdir, kBad),
      CASE(mkdir, kBad, 0700),
      CASE(unlink, kBad),
      CASE(rename, kBad, kBad),
      CASE(pipe, kBad),
      CASE(pipe2, kBad, 0),
      CASE(poll, kBad, 1, 0),
      CASE(select, 1, kBad, 0, 0, 0),
      CASE(readv, file, kBad, 1),
      CASE(writev, file, kBad, 1),
      CASE(uname, kBad),
      CASE(gettimeofday, kBad, 0),
      CASE(clock_gettime, 0, kBad),
      CASE(clock_getres, 0, kBad),
      CASE(nanosleep, kBad, 0),
      CASE(times, kBad),
      CASE(getrusage, 0, kBad),
      CASE(getrlimit, 7, kBad),
      CASE(setrlimit, 7, kBad),
      CASE(sysinfo, kBad),
      CASE(getrandom, kBad, 8, 0),
      CASE(getdents64, file, kBad, 100),
      CASE(rt_sigaction, 10, kBad, 0, 8),
      CASE(rt_sigprocmask, 0, kBad, 0, 8),
      CASE(sigaltstack, kBad, 0),
      CASE(rt_sigpending, kBad, 8),
      CASE(rt_sigtimedwait, kBad, 0, 0, 8),
      CASE(getitimer, 0, kBad),
      CASE(setitimer, 0, kBad, 0),
      CASE(socketpair, AF_UNIX, SOCK_STREAM, 0, kBad),
      CASE(getsockname, sockets[0], kBad, kBad),
      CASE(sendto, sockets[0], kBad, 4, 0, 0, 0),
      CASE(sendmsg, sockets[0], kBad, 0),
      CASE(recvmsg, sockets[1], kBad, MSG_DONTWAIT),
      CASE(getsockopt, sockets[0], 1, 3, kBad, kBad),
      CASE(setsockopt, sockets[0], 1, 2, kBad, 4),
      CASE(futex, kBad, 0, 0, 0),
      CASE(sched_getaffinity, 0, 128, kBad),
      CASE(statfs, kBad, kBad),
      CASE(execve, kBad, 0, 0),
      CASE(prctl, 15, kBad),
      CASE(memfd_create, kBad, 0),
      CASE(truncate, kBad, 0),
      CASE(utimensat, AT_FDCWD, kBad, 0, 0),
      CASE(wait4, -1, kBad, 0, 0),
      CASE(timerfd_settime, file, 0, kBad, 0),
      CASE(time, kBad),
      CASE(arch_prctl, 0x1003, kBad),
      CASE(getgroups, 64, kBad),
      CASE(getresuid, kBad, kBad, kBad),
      CASE(sendfile, file, file, kBad, 1),
      CASE(mincore, (long)&file & ~4095l, 1, kBad),
      CASE(symlink, kBad, kBad),
      CASE(clock_nanosleep, 1, 0, kBad, 0),
      CASE(timer_create, 1, 0, kBad),
      CASE(epoll_ctl, file, 1, file, kBad),
      CASE(ppoll, kBad, 1, 0, 0, 8),
      CASE(prlimit64, 0, 7, 0, kBad),
  };
  char* page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(page != MAP_FAILED && munmap(page + 4096, 4096) == 0);
  const struct {
    const char* what;
    uintptr_t address;
  } addresses[] = {{"low", 16},
                   {"unmapped", (uintptr_t)page + 4096},
                   {"kernel", 0xffffffff81000000},
                   {"hole", 0x800000000000},
                   {"end", ~0ul - 3}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    printf("%s:", cases[i].name);
    for (size_t a = 0; a < 5; a++) {
      long arguments[6];
      for (int k = 0; k < 6; k++) {
        arguments[k] = cases[i].arguments[k] == kBad ? (long)addresses[a].address : cases[i].arguments[k];
      }
      long result = raw_syscall(cases[i].number, arguments[0], arguments[1], arguments[2], arguments[3],
                                arguments[4], arguments[5]);
      printf(" %s", result < 0 ? strerrorname_np((int)-result) : "fine");
    }
    printf("\n");
  }
  // Read-only memory as a destination.
  REQUIRE(mprotect(page, 4096, PROT_READ) == 0);
  EXPECT_ERROR(read(ends[0], page, 4), EFAULT);
  EXPECT_ERROR(pread(file, page, 4, 0), EFAULT);
  EXPECT_EQ(raw_syscall(SYS_fstat, file, (long)page, 0, 0, 0, 0), -EFAULT);
  EXPECT_EQ(raw_syscall(SYS_clock_gettime, 1, (long)page, 0, 0, 0, 0), -EFAULT);
  EXPECT_EQ(raw_syscall(SYS_getrandom, (long)page, 8, 0, 0, 0, 0), -EFAULT);
  EXPECT_EQ(raw_syscall(SYS_uname, (long)page, 0, 0, 0, 0, 0), -EFAULT);
  EXPECT_EQ(write(file, page, 4), 4);
  EXPECT_EQ(page[0], 0);
  return guest_result();
}
