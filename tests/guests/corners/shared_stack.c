// A stack in shared memory that another process reads all the time: calls and returns work there as anywhere.
// (What the other process sees in the slots is not compared: the engine's own addresses may be there for some
// instructions.)
#include <sys/mman.h>
#include <sys/wait.h>

#include "guest.h"

static volatile int* control;

int main(void) {
  char* stack = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  control = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(stack != MAP_FAILED && control != MAP_FAILED);
  fflush(stdout);
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    long seen = 0;
    while (!control[0]) {
      for (int slot = 1; slot <= 3; slot++) {
        seen += *(volatile uint64_t*)(stack + 65536 - 8 * slot) != 0;
      }
    }
    _exit(seen == 0);
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
