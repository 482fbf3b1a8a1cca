// A handler repairs the faulting code: undefined instructions become nops, a fault's page of code is supplied
// on demand (the first call of each function faults, the handler maps it in).
#include <signal.h>
#include <ucontext.h>

#include "code/jit.h"

static int repaired, supplied;
static unsigned char* lazy;

static void on_ill(int number, siginfo_t* info, void* context) {
  (void)number;
  (void)context;
  unsigned char* at = info->si_addr;
  REQUIRE(at[0] == 0x0f && at[1] == 0x0b);
  at[0] = 0x66;
  at[1] = 0x90;
  repaired++;
}

static void on_segv(int number, siginfo_t* info, void* context) {
  (void)number;
  greg_t* registers = ((ucontext_t*)context)->uc_mcontext.gregs;
  unsigned char* page = (unsigned char*)((uintptr_t)info->si_addr & ~4095ul);
  REQUIRE(page >= lazy && page < lazy + 64 * kPage);
  EXPECT(registers[REG_RIP] == (greg_t)(uintptr_t)info->si_addr);
  REQUIRE(mmap(page, kPage, kReadWrite, kAnonymous | MAP_FIXED, -1, 0) == page);
  for (int i = 0; i < 16; i++) emit_ret(emit_mov_eax(page + i * 256, (int)((page - lazy) / kPage) * 100 + i));
  REQUIRE(mprotect(page, kPage, kReadExecute) == 0);
  supplied++;
}

int main(void) {
  struct sigaction action = {.sa_sigaction = on_ill, .sa_flags = SA_SIGINFO};
  REQUIRE(sigaction(SIGILL, &action, NULL) == 0);
  action.sa_sigaction = on_segv;
  REQUIRE(sigaction(SIGSEGV, &action, NULL) == 0);
  unsigned char* code = map_code(kPage, kAll);
  unsigned char* at = code;
  at = emit_lea(at, 0);
  for (int i = 0; i < 20; i++) at = emit_add(emit_bytes(at, "\x0f\x0b", 2), 1);
  emit_ret(at);
  EXPECT_EQ(((Code)code)(5), 25);
  EXPECT_EQ(repaired, 20);
  EXPECT_EQ(((Code)code)(6), 26);
  EXPECT_EQ(repaired, 20);

  lazy = map_code(64 * kPage, PROT_NONE);
  for (int i = 0; i < 200; i++) {
    int page = i * 37 % 64, function = i % 16;
    EXPECT_EQ(((Code)(lazy + page * kPage + function * 256))(0), page * 100 + function);
  }
  printf("%d repaired, %d supplied\n", repaired, supplied);
  // Taken away again.
  for (int i = 0; i < 64; i += 2) REQUIRE(mprotect(lazy + i * kPage, kPage, PROT_NONE) == 0);
  for (int i = 0; i < 64; i++) EXPECT_EQ(((Code)(lazy + i * kPage + 256))(0), i * 100 + 1);
  EXPECT_EQ(supplied, 64 + 32);
  return guest_result();
}
