// RLIMIT_STACK is what the next image gets: 64 MiB let it use 48 MiB, 1 MiB lets it use 700 KiB; the limit
// reads back.
#include <sys/resource.h>

#include "guest.h"

static int use(size_t bytes) {
  volatile char frame[4000];
  frame[0] = (char)bytes;
  frame[3999] = 1;
  if (bytes < 4096) return frame[0];
  return use(bytes - 4096) + frame[3999];
}

static void again(char** argv, const char* step, rlim_t limit) {
  struct rlimit stack;
  REQUIRE(getrlimit(RLIMIT_STACK, &stack) == 0);
  stack.rlim_cur = limit;
  REQUIRE(setrlimit(RLIMIT_STACK, &stack) == 0);
  char* arguments[] = {argv[0], (char*)step, NULL};
  fflush(stdout);
  execv("/proc/self/exe", arguments);
  REQUIRE(!"execv returned");
}

int main(int argc, char** argv) {
  if (argc == 1) again(argv, "large", 64 << 20);
  struct rlimit stack;
  REQUIRE(getrlimit(RLIMIT_STACK, &stack) == 0);
  printf("%s: limit %llu KiB\n", argv[1], (unsigned long long)stack.rlim_cur >> 10);
  if (strcmp(argv[1], "large") == 0) {
    printf("%d\n", use(48 << 20));
    again(argv, "small", 1 << 20);
  }
  printf("%d\n", use(700 << 10));
  return guest_result();
}
