// Four threads with a mutex, a condition variable and a data race, whose lost updates a replay must lose too.
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t start;
static int turn;
static long guarded;
static volatile long racy;

static void* work(void* argument) {
  long id = (long)argument;
  pthread_barrier_wait(&start);
  for (int i = 0; i < 500000; i++) {
    racy++;
    if (i % 500 == 0) {
      pthread_mutex_lock(&mutex);
      guarded++;
      pthread_mutex_unlock(&mutex);
    }
  }
  for (int i = 0; i < 50; i++) {
    pthread_mutex_lock(&mutex);
    while (turn != id) pthread_cond_wait(&changed, &mutex);
    turn = (turn + 1) % 4;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
  }
  return NULL;
}

int main(void) {
  pthread_t threads[4];
  pthread_barrier_init(&start, NULL, 4);
  for (long i = 0; i < 4; i++) pthread_create(&threads[i], NULL, work, (void*)i);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  printf("guarded %ld, racy %ld, lost %ld\n", guarded, racy, 2000000 - racy);
  return 0;
}
