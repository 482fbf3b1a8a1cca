// siglongjmp out of handlers, thousands of times: from faults, from traps, from a signal sent to ourselves.
#include <setjmp.h>
#include <signal.h>

#include "guest.h"

static sigjmp_buf back;
static void handler(int number) { siglongjmp(back, number); }

int main(void) {
  signal(SIGSEGV, handler);
  signal(SIGILL, handler);
  signal(SIGFPE, handler);
  signal(SIGTRAP, handler);
  signal(SIGUSR1, handler);
  volatile int counts[64] = {0};
  for (volatile int i = 0; i < 5000; i++) {
    int number = sigsetjmp(back, 1);
    if (number == 0) {
      switch (i % 5) {
        case 0:
          *(volatile int*)8 = 1;
          break;
        case 1:
          __asm__ volatile("ud2");
          break;
        case 2:
          __asm__ volatile("xor %%ecx, %%ecx\n idiv %%ecx" : : : "rax", "rcx", "rdx");
          break;
        case 3:
          __asm__ volatile("int3");
          break;
        case 4:
          raise(SIGUSR1);
          break;
      }
      EXPECT(!"went on");
    }
    counts[number]++;
  }
  printf("%d %d %d %d %d\n", counts[SIGSEGV], counts[SIGILL], counts[SIGFPE], counts[SIGTRAP],
         counts[SIGUSR1]);
  EXPECT_EQ(counts[SIGSEGV] + counts[SIGILL] + counts[SIGFPE] + counts[SIGTRAP] + counts[SIGUSR1], 5000);
  sigset_t mask;
  sigprocmask(SIG_BLOCK, NULL, &mask);
  EXPECT(!sigismember(&mask, SIGSEGV) && !sigismember(&mask, SIGUSR1));
  return guest_result();
}
