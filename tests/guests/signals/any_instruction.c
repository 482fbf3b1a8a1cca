// Signals that arrive at any instruction of a loop of jumps, calls, returns, indirect transfers, pushes,
// string and carry instructions: the context always shows a pc inside the loop, the stack pointer where it
// may be, registers that satisfy the loop's invariant at that pc, return addresses of the program's own; the
// result is never disturbed.
#include <signal.h>
#include <sys/time.h>
#include <ucontext.h>

#include "guest.h"

extern const char any_start[], any_end[];
static volatile int ticks, outside, bad_stack, bad_sum, bad_return, inside;
static uint64_t loop_rsp;

static int is_code(uint64_t value) { return value >= (uint64_t)any_start && value < (uint64_t)any_end; }

static void handler(int number, siginfo_t* info, void* context) {
  (void)number;
  (void)info;
  greg_t* r = ((ucontext_t*)context)->uc_mcontext.gregs;
  ticks++;
  if (!is_code((uint64_t)r[REG_RIP])) {
    outside++;
    return;
  }
  inside++;
  uint64_t rsp = (uint64_t)r[REG_RSP];
  if (rsp > loop_rsp || rsp < loop_rsp - 64) bad_stack++;
  // r12 is constant, r13 + r14 too (they change together through one lea each, r15 marks the time between).
  if (r[REG_R12] != 0x123456789) bad_sum++;
  if (r[REG_R15] == 0 && r[REG_R13] + r[REG_R14] != 0x10000000) bad_sum++;
  for (uint64_t slot = rsp; slot < loop_rsp; slot += 8) {
    uint64_t value = *(uint64_t*)slot;
    // Everything the loop pushes is a return address of its own or the constant.
    if (!is_code(value) && value != 0x123456789) bad_return++;
  }
}

int main(void) {
  struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
  REQUIRE(sigaction(SIGALRM, &action, NULL) == 0);
  static char from[64] = "some bytes to be copied in the loop", to[64];
  uint64_t total = 0, rounds = 0;
  while (inside < 300) {
    struct itimerval timer = {{0, 777}, {0, 1 + (int)(rounds * 37 % 300)}};
    REQUIRE(setitimer(ITIMER_REAL, &timer, NULL) == 0);
    uint64_t sum;
    __asm__ volatile(
        "sub $256, %%rsp\n mov %%rsp, %[loop_rsp]\n"
        "movabs $0x123456789, %%r12\n xor %%r13d, %%r13d\n mov $0x10000000, %%r14d\n xor %%r15d, %%r15d\n "
        "xor %%eax, %%eax\n"
        "mov $20000, %%edx\n"
        "any_start:\n"
        "1: call 2f\n"
        "push %%r12\n"
        "lea 3f(%%rip), %%r8\n jmp *%%r8\n"
        "2: mov $1, %%r15d\n lea 3(%%r13), %%r13\n lea -3(%%r14), %%r14\n mov $0, %%r15d\n ret\n"
        "3: pop %%r9\n"
        "lea 4f(%%rip), %%r8\n push %%r8\n ret\n ud2\n"
        "4: lea 2b(%%rip), %%r8\n call *%%r8\n"
        "mov %[from], %%rsi\n mov %[to], %%rdi\n mov $40, %%ecx\n rep movsb\n"
        "stc\n call 5f\n adc $0, %%rax\n jmp 6f\n"
        "5: mov $3, %%ecx\n 7: loop 7b\n ret\n"
        "6: cmp $0, %%r15\n jne 8f\n"
        "dec %%edx\n jnz 1b\n"
        "8: mov %%r13, %%rbx\n"
        "any_end: add $256, %%rsp\n"
        : "=&a"(sum), [loop_rsp] "=m"(loop_rsp)
        : [from] "r"((uint64_t)from), [to] "r"((uint64_t)to)
        : "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r12", "r13", "r14", "r15", "memory", "cc");
    EXPECT_EQ(sum, 20000);
    total += sum;
    rounds++;
    EXPECT(memcmp(from, to, 40) == 0);
  }
  struct itimerval off = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &off, NULL);
  EXPECT_EQ(total, rounds * 20000);
  printf("bad: stack %d, registers %d, return addresses %d\n", bad_stack, bad_sum, bad_return);
  EXPECT_EQ(bad_stack + bad_sum + bad_return, 0);
  return guest_result();
}
