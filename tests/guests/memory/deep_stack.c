// A stack limit that is raised while the program runs lets the stack grow further, and a file emptied by opening it
// takes the pages of its mapping along.
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "guest.h"

static sigjmp_buf back;

static void on_bus(int number) {
  (void)number;
  siglongjmp(back, 1);
}

static __attribute__((noinline)) long deep(long n) {
  volatile char frame[4000];
  frame[0] = (char)n;
  return n == 0 ? frame[0] : deep(n - 1) + frame[0];
}

int main(void) {
  struct rlimit limit;
  REQUIRE(getrlimit(RLIMIT_STACK, &limit) == 0);
  limit.rlim_cur = 40 << 20;
  if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < limit.rlim_cur) limit.rlim_cur = limit.rlim_max;
  REQUIRE(setrlimit(RLIMIT_STACK, &limit) == 0);
  printf("sum %ld\n", deep(5000));

  int file = open("emptied", O_RDWR | O_CREAT, 0600);
  REQUIRE(file >= 0 && write(file, "content", 7) == 7);
  char* shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  char* own = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, file, 0);
  REQUIRE(shared != MAP_FAILED && own != MAP_FAILED);
  printf("before: %.7s %.7s\n", shared, own);
  signal(SIGBUS, on_bus);
  int again = open("emptied", O_WRONLY | O_TRUNC);
  REQUIRE(again >= 0);
  if (sigsetjmp(back, 1) == 0) printf("still there: %c\n", shared[0]);
  else printf("gone\n");
  if (sigsetjmp(back, 1) == 0) printf("still there: %c\n", own[0]);
  else printf("gone\n");
  REQUIRE(write(again, "new", 3) == 3);
  printf("after: %.3s %.3s\n", shared, own);
  return guest_result();
}
