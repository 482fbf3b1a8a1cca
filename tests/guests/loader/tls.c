// Large and strictly aligned thread-local storage in the program and in a library, in two threads.
#include <pthread.h>

#include "guest.h"

static __thread char large[64 << 10];
static __thread int value = 1234;
static __thread char aligned_area[100] __attribute__((aligned(256)));
extern __thread int library_value;
int library_next(void);

static void check(const char* who) {
  EXPECT_EQ((uintptr_t)aligned_area % 256, 0);
  EXPECT_EQ(value, 1234);
  EXPECT_EQ(library_value, 100);
  for (size_t i = 0; i < sizeof large; i++) {
    EXPECT_EQ(large[i], 0);
    large[i] = 5;
  }
  value = 1;
  library_value = 200;
  int next = library_next();
  printf("%s: library says %d\n", who, next);
}

static void* second(void* argument) {
  check("second thread");
  return argument;
}

int main(void) {
  check("first thread");
  pthread_t thread;
  REQUIRE(pthread_create(&thread, NULL, second, NULL) == 0);
  REQUIRE(pthread_join(thread, NULL) == 0);
  EXPECT_EQ(value, 1);
  EXPECT_EQ(library_value, 201);
  return guest_result();
}
