// Mutexes with priority inheritance and with a ceiling, contended by four threads.
#include <pthread.h>

#include "guest.h"

static pthread_mutex_t mutex;
static long count;

static void* worker(void* argument) {
  for (int i = 0; i < 5000; i++) {
    EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
    count++;
    if (i % 100 == 0) sched_yield();
    EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  }
  return argument;
}

int main(void) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  EXPECT_EQ(pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT), 0);
  REQUIRE(pthread_mutex_init(&mutex, &attributes) == 0);
  EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
  EXPECT_EQ(pthread_mutex_trylock(&mutex), EBUSY);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) REQUIRE(pthread_create(&threads[i], NULL, worker, NULL) == 0);
  for (int i = 0; i < 4; i++) EXPECT_EQ(pthread_join(threads[i], NULL), 0);
  printf("%ld\n", count);
  EXPECT_EQ(count, 20000);
  return guest_result();
}
