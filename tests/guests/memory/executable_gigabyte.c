// One gigabyte of executable memory, code in its first, middle and last page, then a second gigabyte.
#include <sys/mman.h>

#include "guest.h"

enum { kSize = 1 << 30 };

int main(void) {
  for (int round = 0; round < 3; round++) {
    char* area = mmap(NULL, kSize, PROT_READ | PROT_WRITE | PROT_EXEC,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    REQUIRE(area != MAP_FAILED);
    static const size_t kPlaces[] = {0, 4090, kSize / 2, kSize - 6};
    for (int i = 0; i < 4; i++) {
      // mov $i, %eax; ret
      char code[] = {(char)0xb8, (char)(i + 10 * round), 0, 0, 0, (char)0xc3};
      memcpy(area + kPlaces[i], code, sizeof code);
    }
    int sum = 0;
    for (int i = 0; i < 4; i++) sum += ((int (*)(void))(area + kPlaces[i]))();
    printf("round %d: %d\n", round, sum);
    EXPECT_EQ(sum, 6 + 40 * round);
    if (round == 1) EXPECT_EQ(munmap(area, kSize), 0);
  }
  return guest_result();
}
