// A signal ends loops that have no way out of their own: a jump to itself, a flag that is polled, a register
// that the handler changes in the context, a loop around emulated instructions, a loop of calls.
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <ucontext.h>

#include "guest.h"

static sigjmp_buf back;
static volatile sig_atomic_t flag, mode;
extern const char loop_start[], loop_end[];

static void handler(int number, siginfo_t* info, void* context) {
  (void)number;
  (void)info;
  greg_t* registers = ((ucontext_t*)context)->uc_mcontext.gregs;
  switch (mode) {
    case 0:
      siglongjmp(back, 1);
    case 1:
      flag = 1;
      break;
    case 2: {
      const char* pc = (const char*)registers[REG_RIP];
      if (pc >= loop_start && pc < loop_end) {
        registers[REG_RBX] = 0;
      }  // else not there yet: the next tick asks again
      break;
    }
  }
}

static void arm(int new_mode) {
  mode = new_mode;
  flag = 0;
  struct itimerval timer = {{0, 10000}, {0, 10000}};
  REQUIRE(setitimer(ITIMER_REAL, &timer, NULL) == 0);
}

int main(void) {
  struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
  REQUIRE(sigaction(SIGALRM, &action, NULL) == 0);
  if (sigsetjmp(back, 1) == 0) {
    arm(0);
    __asm__ volatile("1: jmp 1b");
  }
  printf("out of a jump to itself\n");
  if (sigsetjmp(back, 1) == 0) {
    arm(0);
    __asm__ volatile("lea 1f(%%rip), %%rax\n 1: jmp *%%rax" : : : "rax");
  }
  printf("out of an indirect jump to itself\n");
  if (sigsetjmp(back, 1) == 0) {
    arm(0);
    __asm__ volatile("1: call 2f\n jmp 1b\n 2: ret" : : : "memory");
  }
  printf("out of a loop of calls\n");
  if (sigsetjmp(back, 1) == 0) {
    arm(0);
    for (;;)
      __asm__ volatile("xor %%eax, %%eax\n xor %%ecx, %%ecx\n cpuid\n rdtsc"
                       :
                       :
                       : "rax", "rbx", "rcx", "rdx");
  }
  printf("out of a loop of emulated instructions\n");
  if (sigsetjmp(back, 1) == 0) {
    arm(0);
    for (;;) getppid();
  }
  printf("out of a loop of system calls\n");
  if (sigsetjmp(back, 1) == 0) {
    arm(0);
    __asm__ volatile("lea 1f(%%rip), %%rax\n 1: push %%rax\n ret" : : : "rax", "memory");
  }
  printf("out of a loop of pushes and returns\n");
  arm(1);
  while (!flag) {
  }
  printf("flag seen\n");
  struct itimerval off = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &off, NULL);
  for (int i = 0; i < 10; i++) {
    arm(2);
    __asm__ volatile(
        ".globl loop_start, loop_end\n"
        "mov $1, %%ebx\n mov $5, %%ecx\n"
        "loop_start: test %%rbx, %%rbx\n nop\n lea (%%rcx), %%rcx\n jnz loop_start\n"
        "loop_end:\n"
        :
        :
        : "rbx", "rcx", "cc");
  }
  setitimer(ITIMER_REAL, &off, NULL);
  printf("register changed\n");
  return guest_result();
}
