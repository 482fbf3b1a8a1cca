// One thread patches, others run: an aligned 8-byte store flips a function between two bodies; every call
// sees one of the two; after the patcher has ended everyone sees its last one.
#include <pthread.h>

#include "code/jit.h"

enum { kRunners = 3, kFlips = 3000 };
static unsigned char* code;
static volatile int stop;
static uint64_t bodies[2];

static void* runner(void* argument) {
  long* counts = argument;
  while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
    int got = ((Code)code)(0);
    counts[got == 1 ? 0 : got == 2 ? 1 : 2]++;
  }
  return NULL;
}

int main(void) {
  code = map_code(kPage, kAll);
  for (int i = 0; i < 2; i++) {
    unsigned char body[8] = {0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90};
    emit_ret(emit_mov_eax(body, i + 1));
    memcpy(&bodies[i], body, 8);
  }
  __atomic_store_n((uint64_t*)code, bodies[0], __ATOMIC_SEQ_CST);
  pthread_t threads[kRunners];
  static long counts[kRunners][3];
  for (int i = 0; i < kRunners; i++) REQUIRE(pthread_create(&threads[i], NULL, runner, counts[i]) == 0);
  for (int i = 0; i < kFlips; i++) {
    __atomic_store_n((uint64_t*)code, bodies[i & 1], __ATOMIC_SEQ_CST);
    if (i % 16 == 0) EXPECT_EQ(((Code)code)(0), (i & 1) + 1);
  }
  __atomic_store_n((uint64_t*)code, bodies[1], __ATOMIC_SEQ_CST);
  EXPECT_EQ(((Code)code)(0), 2);
  __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
  for (int i = 0; i < kRunners; i++) {
    REQUIRE(pthread_join(threads[i], NULL) == 0);
    EXPECT_EQ(counts[i][2], 0);
  }
  return guest_result();
}
