// MAP_GROWSDOWN: a touch below the mapping extends it, as a stack.
#include <sys/mman.h>

#include "guest.h"

int main(void) {
  char* room = mmap(NULL, 8 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(room != MAP_FAILED);
  char* top = room + (8 << 20) - 4096;
  REQUIRE(munmap(room, 8 << 20) == 0);
  char* stack = mmap(top, 4096, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN | MAP_FIXED_NOREPLACE, -1, 0);
  REQUIRE(stack == top);
  for (int i = 0; i < 100; i++) top[-i * 4096] = (char)i;
  int sum = 0;
  for (int i = 0; i < 100; i++) sum += top[-i * 4096];
  printf("%d\n", sum);
  EXPECT_EQ(sum, 4950);
  // Run on it.
  long result;
  __asm__ volatile(
      "mov %%rsp, %%rbx\n mov %1, %%rsp\n mov $20000, %%ecx\n 1: push %%rcx\n loop 1b\n mov $20000, %%ecx\n "
      "xor %%eax, %%eax\n"
      "2: pop %%rdx\n add %%rdx, %%rax\n loop 2b\n mov %%rbx, %%rsp\n"
      : "=&a"(result)
      : "r"(top + 4096)
      : "rbx", "rcx", "rdx", "memory", "cc");
  EXPECT_EQ(result, 20000L * 20001 / 2);
  return guest_result();
}
