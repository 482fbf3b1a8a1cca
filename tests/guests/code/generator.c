// A small code generator in the usual styles: write then protect, all permissions at once, growing, rewriting
// the same place, pages of many functions, functions that call each other and back into C.
#include "code/jit.h"

static int from_c(int x) { return x * 2 + 1; }

static unsigned char* generate(unsigned char* at, int kind, int value) {
  switch (kind % 4) {
    case 0:
      return emit_ret(emit_mov_eax(at, value));
    case 1:
      return emit_ret(emit_lea(at, value));
    case 2:
      return emit_ret(emit_add(emit_lea(at, value), value));
    default:
      at = emit_bytes(at, "\x48\x83\xec\x08", 4);  // sub $8, %rsp
      at = emit_far_call(at, (void*)from_c);
      at = emit_bytes(at, "\x48\x83\xc4\x08", 4);
      return emit_ret(emit_add(at, value));
  }
}
static int expected(int kind, int value, int x) {
  switch (kind % 4) {
    case 0:
      return value;
    case 1:
      return x + value;
    case 2:
      return x + value + value;
    default:
      return x * 2 + 1 + value;
  }
}

int main(void) {
  // Write, protect, run, unprotect, rewrite.
  unsigned char* area = map_code(16 * kPage, kReadWrite);
  for (int round = 0; round < 300; round++) {
    unsigned char* at = area + (round % 7) * 100;
    generate(at, round, round);
    REQUIRE(mprotect(area, 16 * kPage, kReadExecute) == 0);
    EXPECT_EQ(((Code)at)(5), expected(round, round, 5));
    REQUIRE(mprotect(area, 16 * kPage, kReadWrite) == 0);
  }
  // All permissions at once, appended to while what is there runs.
  unsigned char* open_area = map_code(64 * kPage, kAll);
  unsigned char* at = open_area;
  static Code functions[4000];
  for (int i = 0; i < 4000; i++) {
    functions[i] = (Code)at;
    at = generate(at, i, i);
    if (i % 3 == 0) at += i % 11;
    EXPECT_EQ(functions[i](i), expected(i, i, i));
    EXPECT_EQ(functions[i / 2](1), expected(i / 2, i / 2, 1));
  }
  long sum = 0;
  for (int i = 0; i < 4000; i++) sum += functions[i](3);
  printf("%ld\n", sum);

  // A chain of functions that call the one before.
  unsigned char* chain = map_code(16 * kPage, kAll);
  at = emit_ret(emit_lea(chain, 0));
  unsigned char* previous = chain;
  for (int i = 1; i < 1000; i++) {
    unsigned char* start = at;
    at = emit_call(at, previous);
    at = emit_ret(emit_add(at, 1));
    previous = start;
  }
  EXPECT_EQ(((Code)previous)(100), 1099);
  // Its base is replaced: every function of the chain stays as it is.
  emit_ret(emit_lea(chain, 5000));
  EXPECT_EQ(((Code)previous)(100), 6099);
  // A function in the middle becomes a jump to the base, as a JIT patches a call site.
  unsigned char* middle = chain + 7 + 500 * 11;
  emit_jmp(middle, chain);
  EXPECT_EQ(((Code)previous)(100), 5100 + 1000 - 502);
  // Sections of the page made read-only, executable, writable again in turn.
  for (int i = 0; i < 50; i++) {
    REQUIRE(mprotect(chain, kPage, i % 2 ? kReadExecute : kAll) == 0);
    EXPECT_EQ(((Code)previous)(i), 5000 + i + 1000 - 502);
  }
  return guest_result();
}
