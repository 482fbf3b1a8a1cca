// Mutexes, condition variables, semaphores and barriers in memory shared by four processes.
// @not-replayed: children, which are not recorded, store into shared memory
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "guest.h"

enum { kProcesses = 4, kRounds = 3000 };

static struct {
  pthread_mutex_t mutex;
  pthread_cond_t condition;
  pthread_barrier_t barrier;
  sem_t semaphore;
  long counter, turns, serial;
  int turn;
} * shared;

static void work(int id) {
  for (int i = 0; i < kRounds; i++) {
    pthread_mutex_lock(&shared->mutex);
    shared->counter++;
    pthread_mutex_unlock(&shared->mutex);
  }
  for (int i = 0; i < 20; i++) {
    if (pthread_barrier_wait(&shared->barrier) == PTHREAD_BARRIER_SERIAL_THREAD) shared->serial++;
  }
  for (int i = 0; i < 100; i++) {
    pthread_mutex_lock(&shared->mutex);
    while (shared->turn != id) pthread_cond_wait(&shared->condition, &shared->mutex);
    shared->turns++;
    shared->turn = (id + 1) % kProcesses;
    pthread_cond_broadcast(&shared->condition);
    pthread_mutex_unlock(&shared->mutex);
  }
  sem_post(&shared->semaphore);
}

int main(void) {
  shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(shared != MAP_FAILED);
  pthread_mutexattr_t mutex;
  pthread_condattr_t condition;
  pthread_barrierattr_t barrier;
  pthread_mutexattr_init(&mutex);
  pthread_condattr_init(&condition);
  pthread_barrierattr_init(&barrier);
  pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
  pthread_condattr_setpshared(&condition, PTHREAD_PROCESS_SHARED);
  pthread_barrierattr_setpshared(&barrier, PTHREAD_PROCESS_SHARED);
  pthread_mutex_init(&shared->mutex, &mutex);
  pthread_cond_init(&shared->condition, &condition);
  pthread_barrier_init(&shared->barrier, &barrier, kProcesses);
  sem_init(&shared->semaphore, 1, 0);
  fflush(stdout);
  for (int i = 1; i < kProcesses; i++) {
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      work(i);
      _exit(0);
    }
  }
  work(0);
  for (int i = 0; i < kProcesses; i++) EXPECT_EQ(sem_wait(&shared->semaphore), 0);
  int status;
  for (int i = 1; i < kProcesses; i++) EXPECT(wait(&status) > 0 && status == 0);
  printf("%ld %ld %ld\n", shared->counter, shared->turns, shared->serial);
  EXPECT_EQ(shared->counter, kProcesses * kRounds);
  EXPECT_EQ(shared->turns, kProcesses * 100);
  EXPECT_EQ(shared->serial, 20);
  return guest_result();
}
