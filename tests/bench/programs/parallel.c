// Four threads that compute and share nothing.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static long rounds;

static void *compute(void *argument) {
  uint64_t x = 88172645463325252u + (uint64_t)argument, sum = 0;
  for (long i = 0; i < rounds; i++) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    if (x & 1) {
      sum += x;
    } else {
      sum ^= x;
    }
  }
  return (void *)sum;
}

int main(int argc, char **argv) {
  rounds = (argc > 1 ? atol(argv[1]) : 200) * 1000000;
  pthread_t threads[4];
  uint64_t all = 0;
  for (long i = 0; i < 4; i++) pthread_create(&threads[i], NULL, compute, (void *)i);
  for (int i = 0; i < 4; i++) {
    void *sum;
    pthread_join(threads[i], &sum);
    all ^= (uint64_t)sum;
  }
  printf("%lx\n", (unsigned long)all);
  return 0;
}
