// A program with threads that wait, compute and sleep executes itself, from a thread of its own or the first
// one; the next image has threads of its own, which start afresh.
#include <pthread.h>

#include "guest.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int arrived;
static volatile unsigned work;
static char** arguments;
static char next_image[16];

static void arrive(void) {
  pthread_mutex_lock(&lock);
  arrived++;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}

static void* wait_for_ever(void* argument) {
  arrive();
  pthread_mutex_lock(&lock);
  for (;;) pthread_cond_wait(&changed, &lock);
  return argument;
}

static void* compute(void* argument) {
  arrive();
  for (;;) work = work * 5 + 1;
  return argument;
}

static void* sleep_for_ever(void* argument) {
  arrive();
  for (;;) sleep(1000);
  return argument;
}

static void* execute(void* argument) {
  execl("/proc/self/exe", arguments[0], next_image, (char*)NULL);
  return argument;
}

int main(int argc, char** argv) {
  int image = argc > 1 ? atoi(argv[1]) : 0;
  printf("image %d\n", image);
  fflush(stdout);
  void* (*const bodies[])(void*) = {wait_for_ever, compute, sleep_for_ever, wait_for_ever};
  enum { kThreads = sizeof bodies / sizeof bodies[0] };
  pthread_t thread;
  for (int i = 0; i < kThreads; i++) REQUIRE(pthread_create(&thread, NULL, bodies[i], NULL) == 0);
  pthread_mutex_lock(&lock);
  while (arrived < kThreads) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
  EXPECT_EQ(arrived, kThreads);
  if (image == 4) return guest_result();
  arguments = argv;
  snprintf(next_image, sizeof next_image, "%d", image + 1);
  if (image % 2 == 0) execute(NULL);
  REQUIRE(pthread_create(&thread, NULL, execute, NULL) == 0);
  pthread_join(thread, NULL);
  REQUIRE(!"execl returned");
}
