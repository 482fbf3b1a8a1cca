// Cancellation: at a cancellation point, in blocking calls, deferred while disabled, asynchronous in a loop;
// clean-up handlers and thread-specific destructors run.
#include <pthread.h>
#include <semaphore.h>

#include "guest.h"

static sem_t started;
static int ends[2];
static volatile int cleaned, destroyed, after;
static volatile unsigned work;
static pthread_key_t key;

static void clean(void* argument) { cleaned += (int)(long)argument; }
static void destroy(void* argument) { destroyed += (int)(long)argument; }

static void* blocked(void* argument) {
  char byte;
  pthread_setspecific(key, (void*)7);
  pthread_cleanup_push(clean, (void*)1);
  pthread_cleanup_push(clean, (void*)10);
  sem_post(&started);
  switch ((long)argument) {
    case 0:
      if (read(ends[0], &byte, 1)) after = 1;
      break;
    case 1:
      sleep(1000);
      break;
    case 2:
      for (;;) pthread_testcancel();
    case 3: {
      static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
      static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
      pthread_mutex_lock(&mutex);
      for (;;) pthread_cond_wait(&condition, &mutex);
    }
    case 4:
      pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
      for (;;) work = work * 3 + 1;
  }
  after = 1;
  pthread_cleanup_pop(0);
  pthread_cleanup_pop(0);
  return NULL;
}

static void* disabled(void* argument) {
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
  sem_post(&started);
  usleep(20000);
  after = 5;
  pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
  pthread_testcancel();
  after = 6;
  return argument;
}

int main(void) {
  sem_init(&started, 0, 0);
  REQUIRE(pipe(ends) == 0 && pthread_key_create(&key, destroy) == 0);
  for (long i = 0; i < 5; i++) {
    pthread_t thread;
    void* result;
    cleaned = destroyed = after = 0;
    REQUIRE(pthread_create(&thread, NULL, blocked, (void*)i) == 0);
    sem_wait(&started);
    if (i % 2) usleep(5000);
    EXPECT_EQ(pthread_cancel(thread), 0);
    EXPECT_EQ(pthread_join(thread, &result), 0);
    EXPECT(result == PTHREAD_CANCELED);
    printf("case %ld: cleaned %d, destroyed %d, after %d\n", i, cleaned, destroyed, after);
    EXPECT_EQ(cleaned, 11);
    EXPECT_EQ(destroyed, 7);
    EXPECT_EQ(after, 0);
  }
  pthread_t thread;
  void* result;
  REQUIRE(pthread_create(&thread, NULL, disabled, NULL) == 0);
  sem_wait(&started);
  EXPECT_EQ(pthread_cancel(thread), 0);
  EXPECT_EQ(pthread_join(thread, &result), 0);
  EXPECT(result == PTHREAD_CANCELED);
  EXPECT_EQ(after, 5);
  return guest_result();
}
