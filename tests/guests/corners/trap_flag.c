// A program that single-steps itself by the trap flag gets one SIGTRAP an instruction, with the pc of the
// next one.
// @engine-only-exit: 1
// @engine-stderr: trap flag is not supported
// @differs: the engine clears the trap flag and says so
#include <signal.h>
#include <ucontext.h>

#include "guest.h"

extern const char stepped_start[], stepped_end[];
static volatile int steps, codes[8];
static volatile long deltas[64];

static void on_trap(int number, siginfo_t* info, void* context) {
  (void)number;
  greg_t* registers = ((ucontext_t*)context)->uc_mcontext.gregs;
  if (steps < 64) deltas[steps] = (long)(registers[REG_RIP] - (greg_t)(uintptr_t)stepped_start);
  codes[info->si_code & 7]++;
  steps++;
}

int main(void) {
  struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
  REQUIRE(sigaction(SIGTRAP, &action, NULL) == 0);
  int result;
  __asm__ volatile(
      "sub $128, %%rsp\n pushfq\n orl $0x100, (%%rsp)\n popfq\n"
      "stepped_start: nop\n mov $5, %%eax\n add $3, %%eax\n jmp 1f\n ud2\n 1: call 2f\n jmp 3f\n 2: inc "
      "%%eax\n ret\n"
      "3: pushfq\n andl $0xfffffeff, (%%rsp)\n popfq\n"
      "stepped_end: nop\n add $128, %%rsp\n"
      : "=&a"(result)
      :
      : "memory", "cc");
  EXPECT_EQ(result, 9);
  printf("%d steps, trace codes %d:", steps, codes[TRAP_TRACE]);
  for (int i = 0; i < steps && i < 64; i++) printf(" %ld", deltas[i]);
  printf("\n");
  EXPECT(steps >= 10);
  return guest_result();
}
