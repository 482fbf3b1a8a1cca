// The program's own functions patched in place: made writable, one redirected by a jump (as hot patching
// does), a breakpoint inserted and removed by its own trap handler (as debuggers do), restored; its bytes
// read back as they are.
#include <signal.h>
#include <ucontext.h>

#include "code/jit.h"

static __attribute__((noinline, aligned(64))) int original(int x) {
  __asm__ volatile("nop; nop; nop; nop; nop; nop; nop; nop");
  return x + 1;
}
static __attribute__((noinline, aligned(64))) int replacement(int x) {
  __asm__ volatile("");
  return x + 1000;
}
static int (*volatile call)(int) = original;

static unsigned char saved[8];
static unsigned char* broken;
static int traps;
static void on_trap(int number, siginfo_t* info, void* context) {
  (void)number;
  (void)info;
  greg_t* registers = ((ucontext_t*)context)->uc_mcontext.gregs;
  EXPECT(registers[REG_RIP] == (greg_t)(uintptr_t)broken + 1);
  EXPECT_EQ(*broken, 0xcc);
  *broken = saved[0];
  registers[REG_RIP]--;
  traps++;
}

int main(void) {
  unsigned char* code = (unsigned char*)(uintptr_t)original;
  unsigned char* page = (unsigned char*)((uintptr_t)code & ~4095ul);
  int sum = 0;
  for (int i = 0; i < 1000; i++) sum += call(i);
  EXPECT_EQ(sum, 499500 + 1000);
  REQUIRE(mprotect(page, 2 * kPage, kAll) == 0);
  for (int round = 0; round < 50; round++) {
    memcpy(saved, code, 5);
    emit_jmp(code, (void*)(uintptr_t)replacement);
    EXPECT_EQ(call(5), 1005);
    EXPECT_EQ(original(6), 1006);
    EXPECT_EQ(code[0], 0xe9);
    memcpy(code, saved, 5);
    EXPECT_EQ(call(5), 6);
    EXPECT_EQ(original(6), 7);
  }
  struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
  REQUIRE(sigaction(SIGTRAP, &action, NULL) == 0);
  broken = code + 2;
  for (int round = 0; round < 50; round++) {
    saved[0] = *broken;
    *broken = 0xcc;
    EXPECT_EQ(call(7), 8);
    EXPECT_EQ(traps, round + 1);
    EXPECT_EQ(call(7), 8);
    EXPECT_EQ(traps, round + 1);
  }
  REQUIRE(mprotect(page, 2 * kPage, kReadExecute) == 0);
  EXPECT_EQ(call(1), 2);
  printf("%d traps\n", traps);
  return guest_result();
}
