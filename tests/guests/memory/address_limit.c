// RLIMIT_AS is about the program's own memory: below it everything works, above it mmap and malloc fail, and
// a program started under a limit still starts.
// @limits: as=3000000000:
#include <sys/mman.h>
#include <sys/resource.h>

#include "guest.h"

int main(void) {
  struct rlimit limit;
  REQUIRE(getrlimit(RLIMIT_AS, &limit) == 0);
  printf("limit %llu\n", (unsigned long long)limit.rlim_cur);
  EXPECT_EQ(limit.rlim_cur, 3000000000u);
  void* fits =
      mmap(NULL, 1 << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  EXPECT(fits != MAP_FAILED);
  EXPECT_ERROR((long)mmap(NULL, 3ul << 30, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0),
               ENOMEM);
  munmap(fits, 1 << 30);
  limit.rlim_cur = 512 << 20;
  REQUIRE(setrlimit(RLIMIT_AS, &limit) == 0);
  EXPECT_ERROR((long)mmap(NULL, 600 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), ENOMEM);
  void* block = malloc(100 << 20);
  EXPECT(block != NULL);
  free(block);
  void* volatile too_large = malloc(700 << 20);
  EXPECT(too_large == NULL);
  EXPECT_ERROR((long)mmap(NULL, 600 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), ENOMEM);
  size_t total = 0;
  while (mmap(NULL, 16 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
    total += 16 << 20;
  printf("about %zu MiB more\n", total >> 26 << 6);
  EXPECT(total >= 400u << 20 && total <= 512u << 20);
  return guest_result();
}
