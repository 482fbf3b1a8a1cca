// A program that manages its own pages: each write fault is resolved in the handler and the write goes on,
// thousands of times, as garbage collectors do.
#include <signal.h>
#include <sys/mman.h>

#include "guest.h"

enum { kPages = 64, kRounds = 50 };
static char* area;
static int faults, reads, writes;

static void on_fault(int number, siginfo_t* info, void* context) {
  (void)number;
  (void)context;
  faults++;
  char* page = (char*)((uintptr_t)info->si_addr & ~4095ul);
  REQUIRE(page >= area && page < area + kPages * 4096);
  EXPECT_EQ(info->si_code, SEGV_ACCERR);
  REQUIRE(mprotect(page, 4096, PROT_READ | PROT_WRITE) == 0);
}

int main(void) {
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
  REQUIRE(sigaction(SIGSEGV, &action, NULL) == 0);
  area = mmap(NULL, kPages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(area != MAP_FAILED);
  unsigned sum = 0, state = 1;
  for (int round = 0; round < kRounds; round++) {
    REQUIRE(mprotect(area, kPages * 4096, round % 2 ? PROT_READ : PROT_NONE) == 0);
    for (int i = 0; i < 200; i++) {
      state = state * 1103515245u + 12345u;
      char* at = area + state % (kPages * 4096u);
      if (state >> 31) {
        *(volatile char*)at += (char)i;
        writes++;
      } else {
        sum += (unsigned char)*(volatile char*)at;
        reads++;
      }
    }
  }
  printf("%d faults, %d reads, %d writes, sum %u\n", faults, reads, writes, sum);
  EXPECT(faults > kRounds);
  return guest_result();
}
