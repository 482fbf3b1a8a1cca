// Indirect transfers whose target has the low half of good code under an upper half that makes it another
// address, or none: each must fault as the processor has it, and the same site must work again afterwards.
// @recorded-part: child processes are not recorded
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>
#include <ucontext.h>

#include "guest.h"

// Four ways to go to a target; label_landed returns 1.
extern const char at_jump[], at_jump_memory[], at_call[], at_return[], label_landed[];
long by_jump(uint64_t target);
long by_jump_memory(uint64_t target);
long by_call(uint64_t target);
long by_return(uint64_t target);

__asm__(
    ".text\n"
    "by_jump: at_jump: jmp *%rdi\n"
    "by_jump_memory: mov %rdi, -32(%rsp)\n at_jump_memory: jmp *-32(%rsp)\n"
    "by_call: sub $8, %rsp\n at_call: call *%rdi\n add $8, %rsp\n ret\n"
    "by_return: push %rdi\n at_return: ret\n"
    "nop\n"
    "label_landed: mov $1, %eax\n ret\n"
    ".globl by_jump, by_jump_memory, by_call, by_return, label_landed, at_jump, at_jump_memory, at_call, "
    "at_return\n");

static sigjmp_buf back;
static uint64_t fault_pc, fault_address;
static int fault_code;

static void on_fault(int signo, siginfo_t* info, void* context) {
  const ucontext_t* uc = context;
  (void)signo;
  fault_pc = (uint64_t)uc->uc_mcontext.gregs[REG_RIP];
  fault_address = (uint64_t)info->si_addr;
  fault_code = info->si_code;
  siglongjmp(back, 1);
}

struct way {
  const char* name;
  long (*go)(uint64_t target);
  const char* at;
};

static void try_target(const struct way* way, uint64_t upper) {
  uint64_t target = upper << 32 | (uint64_t)label_landed;
  if (sigsetjmp(back, 1) == 0) {
    printf("%s %08llx: landed %ld\n", way->name, (unsigned long long)upper, way->go(target));
    return;
  }
  const char* where = fault_pc == target              ? "the target"
                      : fault_pc == (uint64_t)way->at ? "the branch"
                                                      : "elsewhere";
  const char* address = fault_address == target ? "the target" : fault_address == 0 ? "none" : "other";
  printf("%s %08llx: fault at %s, code %d, address %s\n", way->name, (unsigned long long)upper, where,
         fault_code, address);
}

int main(void) {
  static const uint64_t uppers[] = {
      0,          1,          2,          0x1fff,     0x2000,     0x4444,     0x7ffe,     0x8000,
      0x9000,     0xffff,     0x10000,    0x20000,    0x80000,    0x800000,   0x1000000,  0x2000000,
      0x3fffffff, 0x40000000, 0x40000001, 0x40001fff, 0x40002000, 0x7fffffff, 0x80000000, 0x80000001,
      0x80001fff, 0xbfffffff, 0xc0000000, 0xc0000001, 0xdfffffff, 0xfffe0000, 0xffff0000, 0xffff7fff};
  static const struct way ways[] = {{"jump", by_jump, at_jump},
                                    {"jump through memory", by_jump_memory, at_jump_memory},
                                    {"call", by_call, at_call},
                                    {"return", by_return, at_return}};
  REQUIRE((uint64_t)label_landed < 0x80000000);
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
  REQUIRE(sigaction(SIGSEGV, &action, NULL) == 0);
  // Each in a process of its own, whose copy of the site has met good targets only.
  for (size_t w = 0; w < sizeof ways / sizeof *ways; ++w) {
    try_target(&ways[w], 0);
    for (size_t u = 0; u < sizeof uppers / sizeof *uppers; ++u) {
      fflush(stdout);
      pid_t child = fork();
      REQUIRE(child >= 0);
      if (child == 0) {
        try_target(&ways[w], uppers[u]);
        try_target(&ways[w], 0);
        fflush(stdout);
        _exit(0);
      }
      int status;
      REQUIRE(waitpid(child, &status, 0) == child);
      EXPECT_EQ(status, 0);
    }
  }
  return guest_result();
}
