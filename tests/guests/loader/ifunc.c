// Functions chosen at load time by a resolver, called directly and through a pointer.
#include "guest.h"

static int chosen_plain(int x) { return x + 1; }
static int chosen_sse42(int x) { return x + 2; }

static int (*resolve(void))(int) {
  __builtin_cpu_init();
  return __builtin_cpu_supports("sse4.2") ? chosen_sse42 : chosen_plain;
}
int selected(int x) __attribute__((ifunc("resolve")));
static int (*volatile pointer)(int) = selected;

int main(void) {
  __builtin_cpu_init();
  int expected = 40 + (__builtin_cpu_supports("sse4.2") ? 2 : 1);
  EXPECT_EQ(selected(40), expected);
  EXPECT_EQ(pointer(40), expected);
  char from[300], to[300];
  memset(from, 'x', sizeof from);
  memcpy(to, from, sizeof to);  // libc's own choices
  EXPECT(memcmp(from, to, sizeof to) == 0);
  return guest_result();
}
