// Facilities an engine may refuse (seccomp filters, asynchronous I/O rings, tracing, user faults, performance
// counters): whether they are there or not, asking for them leaves the program able to go on.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "guest.h"

static void ask(const char* what, long result) {
  if (result < -1) printf("FAILED %s: %ld\n", what, result);  // neither a result nor an error
  EXPECT(result >= -1);
  if (result > 2) close((int)result);
}

int main(void) {
  static char zeroes[512];
  ask("io_uring_setup", syscall(425, 4, zeroes));
  unsigned long context = 0;
  ask("io_setup", syscall(SYS_io_setup, 4, &context) < 0 ? -1 : 0);
  ask("userfaultfd", syscall(323, 0));
  ask("perf_event_open", syscall(298, zeroes, 0, -1, -1, 0));
  ask("bpf", syscall(321, 0, zeroes, sizeof zeroes));
  ask("keyctl", syscall(250, 0, -3, 0) < 0 ? -1 : 0);
  ask("rseq", syscall(334, zeroes, 32, 0, 0x53053053) < 0 ? -1 : 0);
  ask("pkey_alloc", syscall(330, 0, 0) < 0 ? (errno == ENOSPC ? 0 : -1) : 0);
  ask("landlock", syscall(444, 0, 0, 1) < 0 ? -1 : 0);
  ask("unknown prctl", prctl(77777, 1, 2, 3, 4));
  printf("asked\n");
  fflush(stdout);
  // A filter that allows everything; strict mode in a child, which only exits then.
  struct sock_filter allow = {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
  struct sock_fprog program = {1, &allow};
  EXPECT_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  ask("seccomp filter", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
  ask("seccomp call", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program));
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
    volatile int sum = 0;
    for (int i = 0; i < 100000; i++) sum += i;
    syscall(SYS_exit, 5);
  }
  int status;
  EXPECT(waitpid(child, &status, 0) == child);
  EXPECT_EQ(status, 5 << 8);
  printf("went on\n");
  return guest_result();
}
