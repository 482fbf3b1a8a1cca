// swapcontext between three coroutines, ten thousand switches, and one that ends by returning.
#include <ucontext.h>

#include "guest.h"

enum { kCoroutines = 3, kSwitches = 10000 };
static ucontext_t main_context, contexts[kCoroutines];
static char stacks[kCoroutines][64 << 10] __attribute__((aligned(16)));
static long counts[kCoroutines];
static int switches;

static void body(int index, int other) {
  double kept = index + 0.5;
  while (switches < kSwitches) {
    switches++;
    counts[index] += index + 1;
    REQUIRE(swapcontext(&contexts[index], &contexts[other]) == 0);
    EXPECT(kept == index + 0.5);
  }
}

int main(void) {
  for (int i = 0; i < kCoroutines; i++) {
    REQUIRE(getcontext(&contexts[i]) == 0);
    contexts[i].uc_stack.ss_sp = stacks[i];
    contexts[i].uc_stack.ss_size = sizeof stacks[i];
    contexts[i].uc_link = &main_context;
    makecontext(&contexts[i], (void (*)(void))body, 2, i, (i + 1) % kCoroutines);
  }
  REQUIRE(swapcontext(&main_context, &contexts[0]) == 0);
  printf("%d switches, counts %ld %ld %ld\n", switches, counts[0], counts[1], counts[2]);
  EXPECT_EQ(switches, kSwitches);

  // getcontext returns once more when the context is set.
  volatile int times = 0;
  ucontext_t again;
  getcontext(&again);
  times = times + 1;
  if (times < 5) setcontext(&again);
  EXPECT_EQ(times, 5);
  return guest_result();
}
