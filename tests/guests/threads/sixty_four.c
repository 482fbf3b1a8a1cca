// Sixty-four threads at once, each with calls, recursion, allocation, floating point, signals to one another.
#include <math.h>
#include <pthread.h>
#include <signal.h>

#include "guest.h"

enum { kThreads = 64 };
static pthread_t threads[kThreads];
static pthread_barrier_t barrier;
static __thread int signals;
static int total_signals;

static void handler(int number) {
  (void)number;
  signals++;
}

static int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

static void* run(void* argument) {
  long id = (long)argument;
  pthread_barrier_wait(&barrier);
  double sum = 0;
  for (int i = 1; i < 2000; i++) sum += sqrt(i + (double)id);
  long result = fibonacci(12 + (int)id % 5);
  for (int i = 0; i < 50; i++) {
    char* text = malloc((size_t)(id + 1) * 20);
    snprintf(text, (size_t)(id + 1) * 20, "%ld %d", id, i);
    result += (long)strlen(text);
    free(text);
    EXPECT_EQ(pthread_kill(threads[(id + 1) % kThreads], SIGUSR1), 0);
  }
  pthread_barrier_wait(&barrier);
  __atomic_fetch_add(&total_signals, signals > 0 && signals <= 50, __ATOMIC_SEQ_CST);
  return (void*)(result + (long)sum);
}

int main(void) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
  sigaction(SIGUSR1, &action, NULL);
  pthread_barrier_init(&barrier, NULL, kThreads + 1);
  for (long i = 0; i < kThreads; i++) REQUIRE(pthread_create(&threads[i], NULL, run, (void*)i) == 0);
  pthread_barrier_wait(&barrier);
  pthread_barrier_wait(&barrier);
  long sum = 0;
  for (int i = 0; i < kThreads; i++) {
    void* result;
    REQUIRE(pthread_join(threads[i], &result) == 0);
    sum += (long)result;
  }
  printf("%ld\n", sum);
  EXPECT_EQ(total_signals, kThreads);
  return guest_result();
}
