// Code that ran may not run any more: execute permission removed, page unmapped; then it may again.
#include <setjmp.h>
#include <signal.h>

#include "code/jit.h"

static sigjmp_buf back;
static volatile int fault_code;
static volatile uintptr_t fault_address;
static void on_fault(int number, siginfo_t* info, void* context) {
  (void)number;
  (void)context;
  fault_code = info->si_code;
  fault_address = (uintptr_t)info->si_addr;
  siglongjmp(back, 1);
}

static int attempt(unsigned char* code) {
  if (sigsetjmp(back, 1)) {
    EXPECT(fault_address == (uintptr_t)code);
    return -fault_code;
  }
  return ((Code)code)(0);
}

int main(void) {
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
  REQUIRE(sigaction(SIGSEGV, &action, NULL) == 0);
  unsigned char* code = map_code(2 * kPage, kAll);
  emit_ret(emit_mov_eax(code, 5));
  // On the second page a function that jumps to the first: linked code must notice as well.
  unsigned char* jump = code + kPage + 16;
  emit_jmp(jump, code);
  for (int i = 0; i < 100; i++) {
    EXPECT_EQ(attempt(code), 5);
    EXPECT_EQ(((Code)jump)(0), 5);
    REQUIRE(mprotect(code, kPage, kReadWrite) == 0);
    EXPECT_EQ(attempt(code), -SEGV_ACCERR);
    if (sigsetjmp(back, 1) == 0) {
      ((Code)jump)(0);
      EXPECT(!"ran through a jump");
    }
    EXPECT(fault_address == (uintptr_t)code);
    REQUIRE(mprotect(code, kPage, kReadExecute) == 0);
    EXPECT_EQ(attempt(code), 5);
    EXPECT_EQ(((Code)jump)(0), 5);
  }
  REQUIRE(munmap(code, kPage) == 0);
  EXPECT_EQ(attempt(code), -SEGV_MAPERR);
  REQUIRE(mmap(code, kPage, kAll, kAnonymous | MAP_FIXED, -1, 0) == code);
  emit_ret(emit_mov_eax(code, 6));
  EXPECT_EQ(((Code)jump)(0), 6);
  printf("done\n");
  return guest_result();
}
