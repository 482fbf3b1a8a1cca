// Mutexes of every kind, condition variables, read-write locks, semaphores, barriers, once, spin locks: under
// contention of eight threads, with counts that show that each did its work.
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#include "guest.h"

enum { kThreads = 8, kRounds = 2000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, recursive, checking;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, emptied = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t semaphore;
static long plain, guarded, spun, read_sum, written, once_calls, inside, inside_most;
static int queue[16], head, tail, count;
static long produced, consumed, serial;

static void only_once(void) { once_calls++; }

static void* worker(void* argument) {
  long id = (long)argument;
  for (int i = 0; i < kRounds; i++) {
    pthread_mutex_lock(&mutex);
    plain++;
    pthread_mutex_unlock(&mutex);
    pthread_mutex_lock(&recursive);
    pthread_mutex_lock(&recursive);
    guarded++;
    pthread_mutex_unlock(&recursive);
    pthread_mutex_unlock(&recursive);
    pthread_spin_lock(&spin);
    spun++;
    pthread_spin_unlock(&spin);
    if (i % 10 == 0) {
      pthread_rwlock_wrlock(&lock);
      written++;
      pthread_rwlock_unlock(&lock);
    } else {
      pthread_rwlock_rdlock(&lock);
      __atomic_fetch_add(&read_sum, written >= 0, __ATOMIC_RELAXED);
      pthread_rwlock_unlock(&lock);
    }
    if (i % 20 == 0) {
      sem_wait(&semaphore);
      long now = __atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST);
      if (now > inside_most) inside_most = now;
      if (i % 200 == 0) sched_yield();
      __atomic_sub_fetch(&inside, 1, __ATOMIC_SEQ_CST);
      sem_post(&semaphore);
    }
    pthread_once(&once, only_once);
  }
  for (int i = 0; i < 50; i++) {
    if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
      __atomic_fetch_add(&serial, 1, __ATOMIC_SEQ_CST);
  }
  // Half produce, half consume.
  for (int i = 0; i < kRounds; i++) {
    pthread_mutex_lock(&mutex);
    if (id % 2) {
      while (count == 16) pthread_cond_wait(&emptied, &mutex);
      queue[tail++ % 16] = i;
      count++;
      produced += i;
      pthread_cond_signal(&filled);
    } else {
      while (count == 0) pthread_cond_wait(&filled, &mutex);
      consumed += queue[head++ % 16];
      count--;
      pthread_cond_broadcast(&emptied);
    }
    pthread_mutex_unlock(&mutex);
  }
  return NULL;
}

int main(void) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&recursive, &attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_init(&checking, &attributes);
  pthread_spin_init(&spin, 0);
  pthread_barrier_init(&barrier, NULL, kThreads);
  sem_init(&semaphore, 0, 3);
  pthread_t threads[kThreads];
  for (long i = 0; i < kThreads; i++) REQUIRE(pthread_create(&threads[i], NULL, worker, (void*)i) == 0);
  for (int i = 0; i < kThreads; i++) EXPECT_EQ(pthread_join(threads[i], NULL), 0);
  printf("%ld %ld %ld, reads %ld, writes %ld, once %ld, serial %ld\n", plain, guarded, spun, read_sum,
         written, once_calls, serial);
  EXPECT_EQ(plain, kThreads * kRounds);
  EXPECT_EQ(guarded, kThreads * kRounds);
  EXPECT_EQ(spun, kThreads * kRounds);
  EXPECT(inside_most <= 3);
  EXPECT_EQ(produced, consumed);
  printf("produced %ld\n", produced);

  EXPECT_EQ(pthread_mutex_lock(&checking), 0);
  EXPECT_EQ(pthread_mutex_lock(&checking), EDEADLK);
  EXPECT_EQ(pthread_mutex_unlock(&checking), 0);
  EXPECT_EQ(pthread_mutex_unlock(&checking), EPERM);
  struct timespec limit;
  clock_gettime(CLOCK_REALTIME, &limit);
  limit.tv_nsec += 5000000;
  if (limit.tv_nsec >= 1000000000) limit.tv_sec++, limit.tv_nsec -= 1000000000;
  pthread_mutex_lock(&mutex);
  EXPECT_EQ(pthread_mutex_timedlock(&mutex, &limit), ETIMEDOUT);
  EXPECT_EQ(pthread_cond_timedwait(&filled, &mutex, &limit), ETIMEDOUT);
  EXPECT_EQ(pthread_mutex_trylock(&mutex), EBUSY);
  pthread_mutex_unlock(&mutex);
  EXPECT_EQ(pthread_rwlock_rdlock(&lock), 0);
  EXPECT_EQ(pthread_rwlock_trywrlock(&lock), EBUSY);
  EXPECT_EQ(pthread_rwlock_tryrdlock(&lock), 0);
  EXPECT_EQ(pthread_rwlock_unlock(&lock) + pthread_rwlock_unlock(&lock), 0);
  EXPECT_EQ(sem_trywait(&semaphore) + sem_trywait(&semaphore) + sem_trywait(&semaphore), 0);
  EXPECT_ERROR(sem_trywait(&semaphore), EAGAIN);
  EXPECT_ERROR(sem_timedwait(&semaphore, &limit), ETIMEDOUT);
  return guest_result();
}
