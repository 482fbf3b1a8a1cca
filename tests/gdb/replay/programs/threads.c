/* Two threads that take turns through a mutex and a condition, and one more that computes. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
int turn;
int shared;

static void *player(void *arg) {
  long me = (long)arg;
  for (int i = 0; i < 5; ++i) {
    pthread_mutex_lock(&lock);
    while (turn != me) pthread_cond_wait(&changed, &lock);
    shared += (int)me + 1;  // add
    turn = !turn;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

int main(void) {
  pthread_t players[2];
  for (long i = 0; i < 2; ++i) pthread_create(&players[i], NULL, player, (void *)i);  // create
  for (int i = 0; i < 2; ++i) pthread_join(players[i], NULL);                         // join
  printf("%d\n", shared);                                                             // done
  return 0;
}
