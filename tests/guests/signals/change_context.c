// What a handler writes into its context is what the program continues with: rip, general registers, flags,
// xmm and x87.
#include <signal.h>
#include <ucontext.h>

#include "guest.h"

static void on_trap(int number, siginfo_t* info, void* context) {
  (void)number;
  (void)info;
  ucontext_t* state = context;
  greg_t* registers = state->uc_mcontext.gregs;
  EXPECT_EQ(registers[REG_RAX], 1);
  EXPECT_EQ(registers[REG_R15], 15);
  registers[REG_RAX] = 0x1111;
  registers[REG_RCX] = 0x2222;
  registers[REG_R15] = 0x3333;
  registers[REG_RIP] += 2;  // over the ud2 behind the int3
  registers[REG_EFL] = (registers[REG_EFL] & ~0x8d5) | 0x41;
  fpregset_t vector = state->uc_mcontext.fpregs;
  REQUIRE(vector != NULL);
  EXPECT_EQ(vector->_xmm[3].element[0], 0x01020304);
  vector->_xmm[3].element[0] = 0x0a0b0c0d;
  vector->mxcsr = 0x3f80;
  vector->cwd = 0x0b7f;
}

int main(void) {
  struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
  REQUIRE(sigaction(SIGTRAP, &action, NULL) == 0);
  uint64_t rax, rcx, r15, flags, xmm;
  static unsigned mxcsr;
  static unsigned short control;
  __asm__ volatile(
      "sub $128, %%rsp\n"
      "mov $0x01020304, %%eax\n movd %%eax, %%xmm3\n"
      "mov $1, %%eax\n mov $15, %%r15d\n xor %%ecx, %%ecx\n"
      "int3\n ud2\n"
      "mov %%rax, %%rbx\n movd %%xmm3, %%edx\n stmxcsr %5\n fnstcw %6\n"
      "pushfq\n pop %%rsi\n mov %%r15, %%rdi\n fninit\n movl $0x1f80, -8(%%rsp)\n ldmxcsr -8(%%rsp)\n add "
      "$128, %%rsp\n"
      : "=b"(rax), "=c"(rcx), "=D"(r15), "=S"(flags), "=d"(xmm), "=m"(mxcsr), "=m"(control)
      :
      : "rax", "r15", "xmm3", "memory", "cc");
  printf("rax %lx, rcx %lx, r15 %lx, flags %lx, xmm3 %lx, mxcsr %x, control %x\n", rax, rcx, r15,
         flags & 0x8d5, xmm, mxcsr & 0xffc0, control);
  EXPECT_EQ(rax, 0x1111);
  EXPECT_EQ(rcx, 0x2222);
  EXPECT_EQ(r15, 0x3333);
  EXPECT_EQ(flags & 0x8d5, 0x41);
  EXPECT_EQ(xmm, 0x0a0b0c0d);
  EXPECT_EQ(mxcsr & 0xffc0, 0x3f80);
  EXPECT_EQ(control, 0x0b7f);
  return guest_result();
}
