// Five hundred threads alive at once, each waiting its turn on one condition variable.
#include <pthread.h>

#include "guest.h"

enum { kThreads = 500 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int alive, turn;

static void* run(void* argument) {
  int id = (int)(long)argument;
  pthread_mutex_lock(&mutex);
  alive++;
  pthread_cond_broadcast(&changed);
  while (turn != id) pthread_cond_wait(&changed, &mutex);
  turn++;
  if (turn % 50 == 0) printf("%d\n", turn);
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
  return NULL;
}

int main(void) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 64 << 10);
  static pthread_t threads[kThreads];
  turn = -1;
  for (long i = 0; i < kThreads; i++) REQUIRE(pthread_create(&threads[i], &attributes, run, (void*)i) == 0);
  pthread_mutex_lock(&mutex);
  while (alive < kThreads) pthread_cond_wait(&changed, &mutex);
  turn = 0;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
  for (int i = 0; i < kThreads; i++) EXPECT_EQ(pthread_join(threads[i], NULL), 0);
  EXPECT_EQ(turn, kThreads);
  return guest_result();
}
