// System calls, cpuid, rdtsc and traps inside generated code, low and high: rcx behind a syscall and the pc
// of a trap are the code's own addresses.
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "code/jit.h"

static uintptr_t trap_pc;
static void on_trap(int number, siginfo_t* info, void* context) {
  (void)number;
  (void)info;
  trap_pc = (uintptr_t)((ucontext_t*)context)->uc_mcontext.gregs[REG_RIP];
}

static void exercise(const char* what, unsigned char* code) {
  // mov $39, %eax; syscall; mov %rcx, (%rdi); ret
  unsigned char* at = emit_mov_eax(code, SYS_getpid);
  at = emit_bytes(at, "\x0f\x05", 2);
  unsigned char* behind = at;
  at = emit_bytes(at, "\x48\x89\x0f", 3);
  at = emit_ret(at);
  uint64_t rcx = 0;
  int (*call)(uint64_t*) = (int (*)(uint64_t*))code;
  for (int i = 0; i < 100; i++) {
    EXPECT_EQ(call(&rcx), getpid());
    EXPECT(rcx == (uint64_t)behind);
  }
  // push %rbx; xor eax; xor ecx; cpuid; rdtsc; int3; pop %rbx; mov $7, %eax; ret
  unsigned char* second = code + 256;
  at = emit_bytes(second, "\x53\x31\xc0\x31\xc9\x0f\xa2\x0f\x31\xcc\x5b", 11);
  at = emit_ret(emit_mov_eax(at, 7));
  for (int i = 0; i < 100; i++) {
    EXPECT_EQ(((Code)second)(0), 7);
    EXPECT(trap_pc == (uintptr_t)second + 10);
  }
  // A loop of system calls: mov %edi, %r12d ... with the counter in a callee-saved register.
  unsigned char* third = code + 512;
  at = emit_bytes(third, "\x41\x54\x41\x89\xfc", 5);  // push %r12; mov %edi, %r12d
  unsigned char* head = at;
  at = emit_mov_eax(at, SYS_getppid);
  at = emit_bytes(at, "\x0f\x05\x41\xff\xcc\x75", 6);  // syscall; dec %r12d; jnz head
  *at = (unsigned char)(head - (at + 1));
  at++;
  at = emit_ret(emit_bytes(at, "\x41\x5c", 2));
  EXPECT_EQ(((Code)third)(500), getppid());
  printf("%s: done\n", what);
}

int main(void) {
  struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
  REQUIRE(sigaction(SIGTRAP, &action, NULL) == 0);
  exercise("anywhere", map_code(kPage, kAll));
  unsigned char* low = mmap(NULL, kPage, kAll, kAnonymous | MAP_32BIT, -1, 0);
  REQUIRE(low != MAP_FAILED);
  exercise("low", low);
  unsigned char* high = mmap((void*)0x210000000000, kPage, kAll, kAnonymous | MAP_FIXED_NOREPLACE, -1, 0);
  REQUIRE(high == (unsigned char*)0x210000000000);
  exercise("high", high);
  return guest_result();
}
