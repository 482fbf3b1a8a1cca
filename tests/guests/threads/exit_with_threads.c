// exit ends the process whatever the other threads do: computing, sleeping, waiting for a lock, in a system
// call.
// @exit: 9
#include <pthread.h>

#include "guest.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static int ends[2];
static volatile unsigned work;

static void* worker(void* argument) {
  char byte;
  pthread_barrier_wait(&barrier);
  switch ((long)argument) {
    case 0:
      for (;;) work = work * 3 + 1;
    case 1:
      for (;;) sleep(100);
    case 2:
      pthread_mutex_lock(&mutex);
      break;
    case 3:
      if (read(ends[0], &byte, 1) != 1) break;
      break;
    case 4:
      for (;;) getppid();
  }
  return NULL;
}

int main(void) {
  REQUIRE(pipe(ends) == 0);
  pthread_mutex_lock(&mutex);
  pthread_barrier_init(&barrier, NULL, 6);
  pthread_t thread;
  for (long i = 0; i < 5; i++) REQUIRE(pthread_create(&thread, NULL, worker, (void*)i) == 0);
  pthread_barrier_wait(&barrier);
  usleep(10000);
  printf("leaving\n");
  fflush(stdout);
  exit(9);
}
