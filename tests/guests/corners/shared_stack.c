// A stack in shared memory: another process sees every return address pushed there as the program's own.
#include <sys/mman.h>
#include <sys/wait.h>

#include "guest.h"

extern const char body_start[], body_end[];  // labels in main
static volatile int* control;

int main(void) {
  char* stack = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  control = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(stack != MAP_FAILED && control != MAP_FAILED);
  fflush(stdout);
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    // Watch the slots where the parent's calls put their return addresses.
    long foreign = 0, seen = 0;
    while (!control[0]) {
      for (int slot = 1; slot <= 3; slot++) {
        uint64_t value = *(volatile uint64_t*)(stack + 65536 - 8 * slot);
        if (value == 0) continue;
        seen++;
        if (value < (uint64_t)body_start || value >= (uint64_t)body_end) foreign++;
      }
    }
    _exit(seen == 0 ? 2 : foreign != 0);
  }
  uint64_t count;
  __asm__ volatile(
      "mov %%rsp, %%rbx\n mov %1, %%rsp\n mov $3000000, %%ecx\n xor %%eax, %%eax\n"
      "body_start: call 2f\n dec %%ecx\n jnz body_start\n jmp 5f\n"
      "2: call 3f\n call 3f\n ret\n"
      "3: call 4f\n inc %%rax\n ret\n"
      "4: ret\n"
      "5: body_end: mov %%rbx, %%rsp\n"
      : "=&a"(count)
      : "r"(stack + 65536)
      : "rbx", "rcx", "memory", "cc");
  control[0] = 1;
  EXPECT_EQ(count, 6000000);
  int status;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  printf("the watcher says %d\n", WEXITSTATUS(status));
  EXPECT_EQ(status, 0);
  return guest_result();
}
