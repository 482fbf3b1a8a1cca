// Thread-specific data: keys, destructors in rounds, at exit of threads only; thread-local storage zeroed
// anew for each.
#include <pthread.h>

#include "guest.h"

static pthread_key_t keys[40];
static volatile int destroyed, rounds;
static __thread int counters[1000];

static void destructor(void* value) {
  __atomic_fetch_add(&destroyed, 1, __ATOMIC_SEQ_CST);
  if ((long)value == 1) {
    rounds++;
    if (rounds < 3) pthread_setspecific(keys[0], value);  // once more, please
  }
}

static void* run(void* argument) {
  for (int i = 0; i < 1000; i++) EXPECT_EQ(counters[i]++, 0);
  for (int i = 0; i < 40; i++) {
    EXPECT(pthread_getspecific(keys[i]) == NULL);
    pthread_setspecific(keys[i], (void*)(long)(i + 1));
  }
  for (int i = 0; i < 40; i++) EXPECT(pthread_getspecific(keys[i]) == (void*)(long)(i + 1));
  return argument;
}

int main(void) {
  for (int i = 0; i < 40; i++) REQUIRE(pthread_key_create(&keys[i], destructor) == 0);
  pthread_t thread;
  REQUIRE(pthread_create(&thread, NULL, run, NULL) == 0);
  REQUIRE(pthread_join(thread, NULL) == 0);
  printf("%d destroyed, %d rounds\n", destroyed, rounds);
  EXPECT_EQ(destroyed, 42);
  rounds = 100;
  for (int i = 0; i < 50; i++) {
    REQUIRE(pthread_create(&thread, NULL, run, NULL) == 0);
    REQUIRE(pthread_join(thread, NULL) == 0);
  }
  EXPECT_EQ(destroyed, 42 + 50 * 40);
  return guest_result();
}
