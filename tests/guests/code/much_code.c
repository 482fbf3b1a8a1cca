// More code than fits anywhere: 60 generations of 2,000 different functions each, on the same 1 MiB and on
// fresh pages.
// @timeout: 60
#include "code/jit.h"

enum { kFunctions = 2000, kGenerations = 60 };

static unsigned char* make(unsigned char* at, int seed) {
  at = emit_lea(at, seed);
  for (int i = 0; i < 12; i++) {
    at = emit_add(at, i + seed);
    if ((seed + i) % 3 == 0) at = emit_bytes(at, "\x85\xc0\x74\x00", 4);  // test %eax, %eax; je next
  }
  return emit_ret(at);
}
static int expected(int seed, int x) { return x + seed + 66 + 12 * seed; }

int main(void) {
  size_t size = 1 << 20;
  unsigned char* same = map_code(size, kAll);
  static unsigned char* starts[kFunctions];
  long sum = 0;
  for (int generation = 0; generation < kGenerations; generation++) {
    unsigned char* area = generation % 2 ? map_code(size, kAll) : same;
    unsigned char* at = area;
    for (int i = 0; i < kFunctions; i++) {
      starts[i] = at;
      at = make(at, generation * 7 + i);
    }
    REQUIRE(at < area + size);
    for (int i = 0; i < kFunctions; i++) {
      int got = ((Code)starts[i])(i);
      if (got != expected(generation * 7 + i, i)) {
        EXPECT_EQ(got, expected(generation * 7 + i, i));
        return guest_result();
      }
      sum += got;
    }
    if (generation % 4 == 1) REQUIRE(munmap(area, size) == 0);
  }
  printf("%ld\n", sum);
  return guest_result();
}
