// The old fixed page of system calls: gettimeofday, time and getcpu there work or fault as natively.
// @needs: vsyscall
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>

#include "guest.h"

static sigjmp_buf back;
static uintptr_t pc, address;
static void on_fault(int number, siginfo_t* info, void* context) {
  (void)number;
  pc = (uintptr_t)((ucontext_t*)context)->uc_mcontext.gregs[REG_RIP];
  address = (uintptr_t)info->si_addr;
  siglongjmp(back, 1);
}

int main(void) {
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
  sigaction(SIGSEGV, &action, NULL);
  static const uintptr_t kEntries[] = {0xffffffffff600000, 0xffffffffff600400, 0xffffffffff600800};
  struct timeval now = {0, 0};
  time_t seconds = 0;
  unsigned cpu = 9999, node = 9999;
  for (int i = 0; i < 3; i++) {
    long result = -12345;
    if (sigsetjmp(back, 1) == 0) {
      if (i == 0) result = ((long (*)(struct timeval*, void*))kEntries[i])(&now, NULL);
      if (i == 1) result = ((long (*)(time_t*))kEntries[i])(&seconds);
      if (i == 2) result = ((long (*)(unsigned*, unsigned*, void*))kEntries[i])(&cpu, &node, NULL);
      printf("entry %d works\n", i);
      if (i != 1) EXPECT_EQ(result, 0);
    } else {
      printf("entry %d faults, pc there %d, address there %d\n", i, pc == kEntries[i],
             address == kEntries[i]);
    }
  }
  if (now.tv_sec) EXPECT(time(NULL) - now.tv_sec >= 0 && time(NULL) - now.tv_sec < 5);
  if (cpu != 9999) EXPECT(cpu < 4096);
  // Reading the page, jumping into its middle, and a bad pointer.
  if (sigsetjmp(back, 1) == 0) {
    volatile unsigned char byte = *(volatile unsigned char*)kEntries[0];
    printf("readable, %x\n", byte);
  } else {
    printf("not readable, address there %d\n", address == kEntries[0]);
  }
  if (sigsetjmp(back, 1) == 0) {
    ((void (*)(void))(kEntries[0] + 5))();
    EXPECT(!"returned from the middle");
  } else {
    printf("middle faults\n");
  }
  return guest_result();
}
