// The x87 stack, its control and status words and MXCSR survive signals; a handler starts with the program's
// control words left alone or default as the kernel has it, and what it does to them is undone.
#include <signal.h>
#include <sys/time.h>

#include "guest.h"

static volatile int ticks;
static volatile unsigned handler_control, handler_mxcsr;

static void handler(int number) {
  (void)number;
  unsigned short control;
  unsigned mxcsr;
  __asm__ volatile("fnstcw %0\n stmxcsr %1" : "=m"(control), "=m"(mxcsr));
  handler_control = control;
  handler_mxcsr = mxcsr;
  static unsigned short other = 0x0f7f;
  static unsigned other_mxcsr = 0xff80;
  __asm__ volatile("fninit\n fldcw %0\n ldmxcsr %1\n fldz\n fld1\n fldpi" : : "m"(other), "m"(other_mxcsr));
  ticks++;
}

static double rounds(long n) {
  // Six values live on the x87 stack all the time, in double precision rounding up.
  static unsigned short control = 0x0a7f, normal = 0x037f;
  double result;
  __asm__ volatile(
      "fldcw %2\n fld1\n fldpi\n fldl2e\n fldl2t\n fldln2\n fldlg2\n mov %1, %%rcx\n"
      "1: fadd %%st(1), %%st\n fmul %%st(2), %%st\n fsqrt\n fxch %%st(3)\n fdiv %%st(4), %%st\n fxch "
      "%%st(3)\n dec %%rcx\n jnz 1b\n"
      "faddp\n faddp\n faddp\n faddp\n faddp\n fstpl %0\n fldcw %3\n"
      : "=m"(result)
      : "r"(n), "m"(control), "m"(normal)
      : "rcx", "memory", "cc");
  return result;
}

int main(void) {
  double expected = rounds(100000);
  signal(SIGALRM, handler);
  struct itimerval timer = {{0, 500}, {0, 500}};
  REQUIRE(setitimer(ITIMER_REAL, &timer, NULL) == 0);
  long passes = 0;
  while (ticks < 300 && passes < 100000) {
    double got = rounds(100000);
    EXPECT(memcmp(&got, &expected, sizeof got) == 0);
    passes++;
  }
  timer.it_value.tv_usec = timer.it_interval.tv_usec = 0;
  setitimer(ITIMER_REAL, &timer, NULL);
  EXPECT(ticks >= 300);
  printf("%.17g\n", expected);
  // The control words a handler finds.
  static unsigned short control = 0x0c7f, normal = 0x037f;
  static unsigned mxcsr = 0x7f80, normal_mxcsr = 0x1f80;
  __asm__ volatile("fldcw %0\n ldmxcsr %1" : : "m"(control), "m"(mxcsr));
  raise(SIGALRM);
  unsigned short after;
  unsigned after_mxcsr;
  __asm__ volatile("fnstcw %0\n stmxcsr %1\n fldcw %2\n ldmxcsr %3"
                   : "=m"(after), "=m"(after_mxcsr)
                   : "m"(normal), "m"(normal_mxcsr));
  printf("in the handler %x %x, after %x %x\n", handler_control, handler_mxcsr, after, after_mxcsr);
  EXPECT_EQ(after, 0x0c7f);
  EXPECT_EQ(after_mxcsr, 0x7f80);
  return guest_result();
}
