// A backtrace taken in a handler shows the frames of the interrupted program up to main.
#include <signal.h>
#include <unwind.h>

#include "guest.h"

static int depth_seen;
int main(void);
static int recurse(int n);
static void leaf(void);

static _Unwind_Reason_Code frame(struct _Unwind_Context* context, void* data) {
  int* count = data;
  void* function = _Unwind_FindEnclosingFunction((void*)_Unwind_GetIP(context));
  const char* name = function == (void*)leaf      ? "leaf"
                     : function == (void*)recurse ? "recurse"
                     : function == (void*)main    ? "main"
                                                  : NULL;
  if (name) printf("  %s\n", name);
  (*count)++;
  return *count > 50 || function == (void*)main ? _URC_END_OF_STACK : _URC_NO_REASON;
}

static void handler(int number) {
  printf("signal %d\n", number);
  int count = 0;
  _Unwind_Backtrace(frame, &count);
  depth_seen = count;
}

static __attribute__((noinline)) void leaf(void) {
  __asm__ volatile("int3" : : : "memory");
  raise(SIGUSR1);
  __asm__ volatile("" : : : "memory");
}
static __attribute__((noinline)) int recurse(int n) {
  if (n == 0) {
    leaf();
    return 0;
  }
  return recurse(n - 1) + 1;
}

int main(void) {
  signal(SIGTRAP, handler);
  signal(SIGUSR1, handler);
  EXPECT_EQ(recurse(4), 4);
  EXPECT(depth_seen >= 8);
  return guest_result();
}
