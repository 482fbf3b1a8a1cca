// The 32-bit system call gate. The engine refuses it with a message; natively it works.
// @engine-only-exit: 139
// @engine-stderr: int 0x80
// @differs: 32-bit system calls are refused, as by a kernel without them
#include "guest.h"

int main(void) {
  long pid;
  __asm__ volatile("mov $20, %%eax\n int $0x80" : "=a"(pid) : : "memory", "r8", "r9", "r10", "r11");
  EXPECT_EQ(pid, getpid());
  return guest_result();
}
