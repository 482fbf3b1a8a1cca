// A page that is executed and written all the time: a counter beside the code, then code that is really
// changed on such a page, in between plain writes.
#include "code/jit.h"

int main(void) {
  unsigned char* page = map_code(kPage, kAll);
  // incl counter(%rip); mov counter(%rip), %eax; add $0, %eax; ret
  unsigned char* at = emit_bytes(page + 64, "\xff\x05", 2);
  at = emit32(at, (int32_t)(page - (at + 4)));
  at = emit_bytes(at, "\x8b\x05", 2);
  at = emit32(at, (int32_t)(page - (at + 4)));
  unsigned char* addend = at + 1;
  at = emit_add(at, 0);
  emit_ret(at);
  Code count = (Code)(page + 64);
  long sum = 0;
  for (int i = 1; i <= 100000; i++) {
    int got = count(0);
    if (got != i) {
      EXPECT_EQ(got, i);
      break;
    }
    sum += got;
  }
  // Now the code changes too, every thousandth time, while the counter goes on.
  for (int i = 1; i <= 100000; i++) {
    if (i % 1000 == 0) emit32(addend, i);
    int got = count(0), want = 100000 + i + i / 1000 * 1000;
    if (got != want) {
      EXPECT_EQ(got, want);
      break;
    }
    sum += got;
  }
  // Data written from C on the code's page.
  volatile int* data = (volatile int*)(page + 2048);
  emit32(addend, 0);
  for (int i = 0; i < 50000; i++) {
    data[i % 256] = i;
    sum += count(0) & 1;
  }
  printf("%ld\n", sum);
  return guest_result();
}
