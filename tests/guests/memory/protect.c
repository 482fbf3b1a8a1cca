// mprotect: every protection, on parts, across holes; what may be done and what faults, with the code of the
// fault.
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>

#include "guest.h"

enum { kPage = 4096, kPrivate = MAP_PRIVATE | MAP_ANONYMOUS };
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

// 'r', 'w', 'x' when it works, '1' or '2' (the fault's code) when not.
static char try_read(volatile char* at) {
  if (sigsetjmp(back, 1)) {
    EXPECT(fault_address == (uintptr_t)at);
    return (char)('0' + fault_code);
  }
  (void)*at;
  return 'r';
}
static char try_write(volatile char* at) {
  if (sigsetjmp(back, 1)) {
    EXPECT(fault_address == (uintptr_t)at);
    return (char)('0' + fault_code);
  }
  *at = (char)0xc3;
  return 'w';
}
static char try_execute(volatile char* at) {
  if (sigsetjmp(back, 1)) {
    EXPECT(fault_address == (uintptr_t)at);
    return (char)('0' + fault_code);
  }
  ((void (*)(void))(uintptr_t)at)();
  return 'x';
}

int main(void) {
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
  REQUIRE(sigaction(SIGSEGV, &action, NULL) == 0);
  char* area = mmap(NULL, 9 * kPage, PROT_READ | PROT_WRITE, kPrivate, -1, 0);
  REQUIRE(area != MAP_FAILED);
  memset(area, 0xc3, 9 * kPage);  // ret
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < 8; i++) EXPECT_EQ(mprotect(area + i * kPage, kPage, (i + round) & 7), 0);
    for (int i = 0; i < 8; i++) {
      char* at = area + i * kPage + 9;
      int protection = (i + round) & 7;
      char read = try_read(at), write = try_write(at), execute = try_execute(at);
      if (protection == PROT_EXEC) {
        // Whether that can be read depends on the processor's protection keys; where not, both faults name
        // them.
        EXPECT((read == 'r' && write == '2') || (read == '4' && write == '4'));
        read = write = '-';
      }
      printf("protection %d: %c%c%c\n", protection, read, write, execute);
    }
  }
  EXPECT_EQ(mprotect(area, 9 * kPage, PROT_READ | PROT_WRITE), 0);
  REQUIRE(munmap(area + 4 * kPage, kPage) == 0);
  // Across a hole: what comes before it is changed all the same.
  EXPECT_ERROR(mprotect(area + 2 * kPage, 5 * kPage, PROT_READ), ENOMEM);
  printf("before the hole %c, in it %c, behind it %c\n", try_write(area + 3 * kPage),
         try_read(area + 4 * kPage), try_write(area + 5 * kPage));
  EXPECT_ERROR(mprotect(area + 1, kPage, PROT_READ), EINVAL);
  EXPECT_ERROR(mprotect(area, kPage, 0x4000), EINVAL);
  EXPECT_EQ(mprotect(area, 0, PROT_READ), 0);
  EXPECT_EQ(mprotect(area, 100, PROT_READ), 0);
  EXPECT_EQ(try_write(area + 4000), '2');
  EXPECT_EQ(try_write(area + kPage), 'w');
  return guest_result();
}
