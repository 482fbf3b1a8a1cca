// A handler that destroys every register leaves the interrupted computation untouched: general registers,
// flags, ymm, x87 stack and control words are restored by sigreturn, at whatever instruction the signal came.
// @needs: avx
#include <math.h>
#include <signal.h>
#include <sys/time.h>

#include "guest.h"

static volatile int ticks;

static void handler(int number) {
  (void)number;
  ticks++;
  static unsigned short control = 0x0f7f;
  static unsigned mxcsr = 0x7f80;
  __asm__ volatile(
      "fninit\n fldcw %0\n fldz\n fldz\n fldz\n fldz\n fldz\n fldz\n fldz\n fldz\n ldmxcsr %1\n vzeroall\n "
      "vpcmpeqd %%xmm0, %%xmm0, %%xmm0\n"
      "mov $-1, %%rax\n mov %%rax, %%rcx\n mov %%rax, %%rdx\n mov %%rax, %%rsi\n mov %%rax, %%rdi\n mov "
      "%%rax, %%r8\n"
      "mov %%rax, %%r9\n mov %%rax, %%r10\n mov %%rax, %%r11\n std\n cld\n stc\n"
      :
      : "m"(control), "m"(mxcsr)
      : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "cc");
}

static __attribute__((noinline)) double compute(int n, long double* extended, uint64_t* integers) {
  double sum = 0;
  long double x = 1;
  uint64_t a = 1, b = 2, c = 3, d = 4, e = 5;
  for (int i = 1; i < n; i++) {
    sum += sqrt(i) * 1.0000001;
    x = x * 1.0000001L + 1.0L / i;
    a = a * 6364136223846793005u + b;
    b = (b << 7 | b >> 57) ^ c;
    c += a > b ? d : e;
    d ^= c >> 3;
    e = e * 3 + (a & 1);
  }
  *extended = x;
  *integers = a ^ b ^ c ^ d ^ e;
  return sum;
}

static __attribute__((noinline)) uint64_t compute_vectors(int n) {
  uint64_t lanes[4] = {1, 2, 3, 4};
  __asm__ volatile(
      "vmovdqu (%1), %%ymm1\n vmovdqu (%1), %%ymm2\n mov %0, %%ecx\n"
      "1: vaddps %%ymm1, %%ymm2, %%ymm3\n vxorps %%ymm3, %%ymm1, %%ymm1\n vorps %%ymm2, %%ymm1, %%ymm2\n"
      "vshufps $0x93, %%ymm2, %%ymm2, %%ymm2\n vperm2f128 $1, %%ymm1, %%ymm1, %%ymm1\n dec %%ecx\n jnz 1b\n"
      "vxorps %%ymm1, %%ymm2, %%ymm2\n vmovdqu %%ymm2, (%1)\n vzeroupper\n"
      :
      : "r"(n), "r"(lanes)
      : "rcx", "memory", "cc", "xmm1", "xmm2", "xmm3");
  return lanes[0] ^ lanes[1] ^ lanes[2] ^ lanes[3];
}

int main(void) {
  long double extended, extended_again;
  uint64_t integers, integers_again;
  double sum = compute(200000, &extended, &integers);
  uint64_t vectors = compute_vectors(300000);
  signal(SIGALRM, handler);
  struct itimerval timer = {{0, 500}, {0, 500}};
  REQUIRE(setitimer(ITIMER_REAL, &timer, NULL) == 0);
  int rounds = 0;
  while (ticks < 200 || rounds < 5) {
    double again = compute(200000, &extended_again, &integers_again);
    EXPECT(again == sum && extended_again == extended && integers_again == integers);
    EXPECT(compute_vectors(300000) == vectors);
    if (++rounds > 3000) break;
  }
  timer.it_value.tv_usec = timer.it_interval.tv_usec = 0;
  setitimer(ITIMER_REAL, &timer, NULL);
  EXPECT(ticks >= 200);
  printf("%.3f %.3Lf\n", sum, extended);
  return guest_result();
}
