// AddressSanitizer finds a write behind a block and ends the program with its status.
// @env: ASAN_OPTIONS=detect_leaks=0:exitcode=23
// @exit: 23
#include "guest.h"

static __attribute__((noinline)) void store(char* block, int index) { block[index] = 1; }

int main(void) {
  printf("before\n");
  fflush(stdout);
  char* block = malloc(10);
  store(block, 10);
  printf("%d\n", block[0]);
  printf("not reached\n");
  return 0;
}
