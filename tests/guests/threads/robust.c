// Robust mutexes: a thread or a process that dies with one held leaves it to the next owner, marked.
// @not-replayed: children, which are not recorded, store into shared memory
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "guest.h"

static pthread_mutex_t* mutex;

static void* die_holding(void* argument) {
  pthread_mutex_lock(mutex);
  return argument;
}

static void* wait_for_it(void* argument) {
  int result = pthread_mutex_lock(mutex);
  if (result == EOWNERDEAD) {
    pthread_mutex_consistent(mutex);
    pthread_mutex_unlock(mutex);
  }
  (void)argument;
  return (void*)(long)result;
}

int main(void) {
  mutex = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(mutex != MAP_FAILED);
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  EXPECT_EQ(pthread_mutex_init(mutex, &attributes), 0);
  pthread_t thread, waiter;
  REQUIRE(pthread_create(&thread, NULL, die_holding, NULL) == 0);
  REQUIRE(pthread_join(thread, NULL) == 0);
  EXPECT_EQ(pthread_mutex_lock(mutex), EOWNERDEAD);
  EXPECT_EQ(pthread_mutex_consistent(mutex), 0);
  EXPECT_EQ(pthread_mutex_unlock(mutex), 0);
  EXPECT_EQ(pthread_mutex_lock(mutex), 0);
  EXPECT_EQ(pthread_mutex_unlock(mutex), 0);

  // A process, killed while somebody waits.
  for (int how = 0; how < 2; how++) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    fflush(stdout);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      pthread_mutex_lock(mutex);
      if (write(ends[1], "x", 1) != 1) _exit(1);
      if (how == 0) {
        usleep(30000);
        _exit(0);
      }
      for (;;) pause();
    }
    char byte;
    REQUIRE(read(ends[0], &byte, 1) == 1);
    REQUIRE(pthread_create(&waiter, NULL, wait_for_it, NULL) == 0);
    usleep(10000);
    if (how == 1) kill(child, 9);
    void* result;
    REQUIRE(pthread_join(waiter, &result) == 0);
    EXPECT_EQ((long)result, EOWNERDEAD);
    waitpid(child, NULL, 0);
  }
  // Not repaired: unusable from then on.
  REQUIRE(pthread_create(&thread, NULL, die_holding, NULL) == 0);
  REQUIRE(pthread_join(thread, NULL) == 0);
  EXPECT_EQ(pthread_mutex_lock(mutex), EOWNERDEAD);
  EXPECT_EQ(pthread_mutex_unlock(mutex), 0);
  EXPECT_EQ(pthread_mutex_lock(mutex), ENOTRECOVERABLE);
  printf("done\n");
  return guest_result();
}
