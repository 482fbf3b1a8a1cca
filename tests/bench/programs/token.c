// Two threads pass a token through a condition variable: each pass is a hand-over.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t passed = PTHREAD_COND_INITIALIZER;
static long token, passes_each;

static void *player(void *argument) {
  long me = (long)argument;
  pthread_mutex_lock(&lock);
  for (long i = 0; i < passes_each; i++) {
    while (token % 2 != me) pthread_cond_wait(&passed, &lock);
    token++;
    pthread_cond_signal(&passed);
  }
  pthread_mutex_unlock(&lock);
  return NULL;
}

int main(int argc, char **argv) {
  passes_each = (argc > 1 ? atol(argv[1]) : 100000) / 2;
  pthread_t players[2];
  for (long i = 0; i < 2; i++) pthread_create(&players[i], NULL, player, (void *)i);
  for (int i = 0; i < 2; i++) pthread_join(players[i], NULL);
  printf("%ld passes\n", token);
  return 0;
}
