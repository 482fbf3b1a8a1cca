// Every thread that FUTEX_WAKE, WAKE_BITSET and WAKE_OP say they woke returns 0 from its wait, and nobody
// else does: while waits time out, are interrupted, and move from word to word.
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>

#include "guest.h"

enum { kWords = 4, kWaiters = 8, kWakers = 2, kRounds = 2000 };

static int words[kWords];
static pthread_t waiters[kWaiters];
static long returned, woken, other_results;
static int stop;

static long futex(int* at, int operation, int value, void* timeout, int* second, int value3) {
  return syscall(SYS_futex, at, operation | FUTEX_PRIVATE_FLAG, value, timeout, second, value3);
}

static void ignore(int number) { (void)number; }

static unsigned draw(unsigned* seed, unsigned below) {
  *seed = *seed * 1103515245 + 12345;
  return (*seed >> 16) % below;
}

static void* wait_again_and_again(void* argument) {
  unsigned seed = (unsigned)(long)argument;
  while (!__atomic_load_n(&stop, __ATOMIC_SEQ_CST)) {
    int* word = &words[draw(&seed, kWords)];
    long result;
    if (draw(&seed, 3) != 0) {
      struct timespec patience = {0, draw(&seed, 400) * 1000};
      result = futex(word, FUTEX_WAIT, 0, &patience, NULL, 0);
    } else {
      struct timespec until;
      clock_gettime(CLOCK_MONOTONIC, &until);
      until.tv_nsec += draw(&seed, 400) * 1000;
      if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
      result = futex(word, FUTEX_WAIT_BITSET, 0, &until, NULL, 1 << draw(&seed, 4));
    }
    if (result == 0) {
      __atomic_fetch_add(&returned, 1, __ATOMIC_SEQ_CST);
    } else if (errno != ETIMEDOUT && errno != EINTR) {
      __atomic_fetch_add(&other_results, 1, __ATOMIC_SEQ_CST);
    }
  }
  return NULL;
}

static void* wake_again_and_again(void* argument) {
  unsigned seed = (unsigned)(long)argument + 1000;
  long count = 0;
  for (int i = 0; i < kRounds; i++) {
    int* word = &words[draw(&seed, kWords)];
    int* second = &words[draw(&seed, kWords)];
    switch (draw(&seed, 6)) {
      case 0:
      case 1:
        count += futex(word, FUTEX_WAKE, 1 + (int)draw(&seed, 3), NULL, NULL, 0);
        break;
      case 2:
        count += futex(word, FUTEX_WAKE_BITSET, 2, NULL, NULL, 1 << draw(&seed, 4));
        break;
      case 3:
        futex(word, FUTEX_CMP_REQUEUE, 0, (void*)2, second, 0);  // moves, wakes nobody
        break;
      case 4:
        count +=
            futex(word, FUTEX_WAKE_OP, 1, (void*)1, second, FUTEX_OP(FUTEX_OP_ADD, 0, FUTEX_OP_CMP_EQ, 0));
        break;
      default:
        pthread_kill(waiters[draw(&seed, kWaiters)], SIGUSR1);
    }
    if (i % 16 == 0) usleep(100);
  }
  __atomic_fetch_add(&woken, count, __ATOMIC_SEQ_CST);
  return NULL;
}

int main(void) {
  struct sigaction action = {.sa_handler = ignore};
  sigaction(SIGUSR1, &action, NULL);
  pthread_t wakers[kWakers];
  for (long i = 0; i < kWaiters; i++)
    REQUIRE(pthread_create(&waiters[i], NULL, wait_again_and_again, (void*)i) == 0);
  for (long i = 0; i < kWakers; i++)
    REQUIRE(pthread_create(&wakers[i], NULL, wake_again_and_again, (void*)i) == 0);
  for (int i = 0; i < kWakers; i++) pthread_join(wakers[i], NULL);
  __atomic_store_n(&stop, 1, __ATOMIC_SEQ_CST);
  for (int i = 0; i < kWaiters; i++) pthread_join(waiters[i], NULL);
  EXPECT(woken > 0);
  EXPECT_EQ(returned, woken);
  EXPECT_EQ(other_results, 0);
  return guest_result();
}
