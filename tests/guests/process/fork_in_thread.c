// fork from a thread while others compute, allocate and wait: the child has that one thread, its thread-local
// data, a usable allocator, atfork handlers run in order; the parent is undisturbed.
#include <pthread.h>
#include <sys/wait.h>

#include "guest.h"

static volatile int running = 1;
static volatile long work[3];
static __thread int own;
static int order[8], order_count;

static void before_one(void) { order[order_count++ & 7] = 1; }
static void before_two(void) { order[order_count++ & 7] = 2; }
static void parent_one(void) { order[order_count++ & 7] = 3; }
static void child_one(void) { order[order_count++ & 7] = 4; }

static void* busy(void* argument) {
  long kind = (long)argument;
  while (running) {
    work[kind]++;
    if (kind == 1) free(malloc(100 + (size_t)(work[1] % 1000)));
    if (kind == 2) usleep(100);
  }
  return NULL;
}

static void* forker(void* argument) {
  own = (int)(long)argument;
  for (int i = 0; i < 30; i++) {
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      int bad = own != (int)(long)argument || getpid() != gettid();
      char* block = malloc(5000);
      bad += block == NULL;
      free(block);
      long before = work[0];
      usleep(500);
      bad += work[0] != before;  // nobody else computes here
      pthread_t thread;
      void* result = NULL;
      running = 0;
      bad += pthread_create(&thread, NULL, busy, NULL) != 0 || pthread_join(thread, &result) != 0;
      _exit(bad);
    }
    int status;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  return argument;
}

int main(void) {
  pthread_t threads[6];
  fflush(stdout);
  for (long i = 0; i < 3; i++) REQUIRE(pthread_create(&threads[i], NULL, busy, (void*)i) == 0);
  for (long i = 3; i < 6; i++) REQUIRE(pthread_create(&threads[i], NULL, forker, (void*)i) == 0);
  for (int i = 3; i < 6; i++) REQUIRE(pthread_join(threads[i], NULL) == 0);
  running = 0;
  for (int i = 0; i < 3; i++) REQUIRE(pthread_join(threads[i], NULL) == 0);

  pthread_atfork(before_one, parent_one, child_one);
  pthread_atfork(before_two, NULL, NULL);
  pid_t child = fork();
  if (child == 0) _exit(order_count == 3 && order[0] == 2 && order[1] == 1 && order[2] == 4 ? 0 : 1);
  int status;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  printf("%d %d %d\n", order[0], order[1], order[2]);
  return guest_result();
}
