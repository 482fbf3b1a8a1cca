// A library with a constructor, a destructor and data, for dlopen.
#include <stdio.h>

static int count;
static int ready;

#if IDENTITY == 1
#define FILLER ""
#else
#define FILLER "nop; nop; nop\n"
#endif

__attribute__((constructor)) static void set_up(void) { ready = 1; }
__attribute__((destructor)) static void tear_down(void) { ready = 0; }
int plugin_count(void) {
  __asm__ volatile(FILLER);
  return ready ? ++count : -1;
}
int plugin_identity(void) {
  __asm__ volatile(FILLER);
  return ready ? IDENTITY : -1;
}
