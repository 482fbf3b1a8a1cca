// Endless recursion ends in SIGSEGV on the alternate stack, with an address just below the stack pointer; the
// program goes on afterwards. In the first thread (RLIMIT_STACK) and in another (guard page), several times
// each.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/resource.h>
#include <ucontext.h>

#include "guest.h"

static __thread sigjmp_buf back;
static __thread volatile long depth;
static __thread volatile int near_stack;

static void on_fault(int number, siginfo_t* info, void* context) {
  (void)number;
  long distance =
      (long)((uintptr_t)info->si_addr - (uintptr_t)((ucontext_t*)context)->uc_mcontext.gregs[REG_RSP]);
  near_stack = distance > -65536 && distance < 65536;
  siglongjmp(back, 1);
}

static __attribute__((noinline)) long recurse(long n) {
  volatile char frame[500];
  frame[0] = (char)n;
  depth = n;
  return recurse(n + 1) + frame[0];
}

static void overflow(const char* who, long least) {
  static __thread char stack[64 << 10];
  stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
  REQUIRE(sigaltstack(&alternate, NULL) == 0);
  for (int i = 0; i < 3; i++) {
    if (sigsetjmp(back, 1) == 0) {
      recurse(0);
    } else {
      EXPECT(near_stack);
      EXPECT(depth > least);
      printf("%s: overflow\n", who);
    }
  }
}

static void* thread(void* argument) {
  overflow("thread", 256 * 1024 / 1000);
  return argument;
}

int main(void) {
  struct rlimit limit;
  REQUIRE(getrlimit(RLIMIT_STACK, &limit) == 0);
  REQUIRE(limit.rlim_cur != RLIM_INFINITY);
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  REQUIRE(sigaction(SIGSEGV, &action, NULL) == 0);
  overflow("first thread", (long)limit.rlim_cur / 1000);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 256 * 1024);
  pthread_t id;
  REQUIRE(pthread_create(&id, &attributes, thread, NULL) == 0);
  REQUIRE(pthread_join(id, NULL) == 0);
  return guest_result();
}
