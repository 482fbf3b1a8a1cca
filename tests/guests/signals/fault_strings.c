// Faults half-way through repeated string instructions: rcx, rsi and rdi say exactly how far they came; the
// page is supplied by the handler and the instruction goes on to its end.
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "guest.h"

static char* area;  // one page present, one missing, one present
static uint64_t at_fault[3];
static int faults;

static void on_fault(int number, siginfo_t* info, void* context) {
  (void)number;
  greg_t* registers = ((ucontext_t*)context)->uc_mcontext.gregs;
  at_fault[0] = (uint64_t)registers[REG_RCX];
  at_fault[1] = (uint64_t)registers[REG_RSI];
  at_fault[2] = (uint64_t)registers[REG_RDI];
  faults++;
  char* page = (char*)((uintptr_t)info->si_addr & ~4095ul);
  REQUIRE(page == area + 4096);
  REQUIRE(mprotect(page, 4096, PROT_READ | PROT_WRITE) == 0);
}

static void reset(void) {
  faults = 0;
  REQUIRE(mprotect(area + 4096, 4096, PROT_READ | PROT_WRITE) == 0);
  for (int i = 0; i < 3 * 4096; i++) area[i] = (char)(i * 5 + 1);
  REQUIRE(mprotect(area + 4096, 4096, PROT_NONE) == 0);
}

#define RUN(instruction, rcx_value, rsi_value, rdi_value)                                                    \
  do {                                                                                                       \
    reset();                                                                                                 \
    uint64_t cx = (rcx_value), si = (uint64_t)(rsi_value), di = (uint64_t)(rdi_value);                       \
    uint64_t si_start = si, di_start = di;                                                                   \
    __asm__ volatile(instruction "\n cld"                                                                    \
                     : "+c"(cx), "+S"(si), "+D"(di)                                                          \
                     : "a"(0xabababababababab)                                                               \
                     : "memory", "cc");                                                                      \
    EXPECT_EQ(faults, 1);                                                                                    \
    printf("%s: at the fault rcx %lu, rsi %+ld, rdi %+ld; at the end rcx %lu, rsi %+ld, rdi %+ld\n",         \
           instruction, (unsigned long)at_fault[0], (long)(at_fault[1] - si_start),                          \
           (long)(at_fault[2] - di_start), (unsigned long)cx, (long)(si - si_start), (long)(di - di_start)); \
  } while (0)

int main(void) {
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
  REQUIRE(sigaction(SIGSEGV, &action, NULL) == 0);
  area = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(area != MAP_FAILED);
  static char other[8192];

  RUN("rep movsb", 3000, area + 2000, other);
  EXPECT_EQ(at_fault[0], 3000 - 2096);
  RUN("rep movsb", 3000, other, area + 2000);
  EXPECT_EQ(at_fault[0], 3000 - 2096);
  RUN("rep movsq", 600, area + 99, other);
  RUN("rep movsw", 1000, other, area + 3001);
  RUN("rep stosb", 3000, other, area + 2000);
  EXPECT_EQ(at_fault[2], (uint64_t)area + 4096);
  RUN("rep stosq", 400, other, area + 1000);
  RUN("rep stosl", 400, other, area + 4095);
  RUN("std\n rep movsb", 3000, area + 8192 + 1000, other + 8000);
  RUN("std\n rep stosq", 300, other, area + 8192 + 800);
  RUN("rep lodsb", 5000, area + 1, other);
  memcpy(other, area, 4096);
  RUN("repne scasb", 6000, other, area + 4000);
  reset();
  memcpy(other, area, 4096);
  RUN("repe cmpsb", 5000, other + 10, area + 10);
  EXPECT_EQ(at_fault[0], 5000 - 4086);
  return guest_result();
}
