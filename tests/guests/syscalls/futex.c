// The futex call itself: value checks, timeouts, wake counts, requeue, wake-op, bit sets, refusals.
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>

#include "guest.h"

static int word, other;
static int woken;

static long futex(int* at, int operation, int value, void* timeout, int* second, int value3) {
  return syscall(SYS_futex, at, operation, value, timeout, second, value3);
}

static void* waiter(void* argument) {
  int mask = (int)(long)argument;
  long result = mask ? futex(&word, FUTEX_WAIT_BITSET_PRIVATE, 0, NULL, NULL, mask)
                     : futex(&word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
  __atomic_fetch_add(&woken, 1, __ATOMIC_SEQ_CST);
  return (void*)result;
}

// Waits until the kernel shows that `count` threads sleep on the word: a wake of nobody tells, so requeue 0
// of them.
static void until_waiting(int* at, int count) {
  for (int i = 0; i < 2000; i++) {
    long moved = futex(at, FUTEX_CMP_REQUEUE_PRIVATE, 0, (void*)1000, &other, *at);
    if (moved > 0) futex(&other, FUTEX_CMP_REQUEUE_PRIVATE, 0, (void*)1000, at, other);
    if (moved >= count) return;
    usleep(1000);
  }
  EXPECT(!"threads do not wait");
}

int main(void) {
  struct timespec soon = {0, 5000000};
  EXPECT_ERROR(futex(&word, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0), EAGAIN);
  EXPECT_ERROR(futex(&word, FUTEX_WAIT_PRIVATE, 0, &soon, NULL, 0), ETIMEDOUT);
  EXPECT_ERROR(futex(&word, FUTEX_WAIT, 0, &soon, NULL, 0), ETIMEDOUT);
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  EXPECT_ERROR(futex(&word, FUTEX_WAIT_BITSET_PRIVATE, 0, &until, NULL, -1), ETIMEDOUT);
  clock_gettime(CLOCK_REALTIME, &until);
  EXPECT_ERROR(futex(&word, FUTEX_WAIT_BITSET_PRIVATE | FUTEX_CLOCK_REALTIME, 0, &until, NULL, -1),
               ETIMEDOUT);
  EXPECT_EQ(futex(&word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0), 0);
  soon.tv_nsec = 2000000000;
  EXPECT_ERROR(futex(&word, FUTEX_WAIT_PRIVATE, 0, &soon, NULL, 0), EINVAL);
  EXPECT_ERROR(futex((int*)((char*)&word + 1), FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0), EINVAL);
  EXPECT_ERROR(futex((int*)16, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0), EFAULT);
  EXPECT_ERROR(futex(&word, 0x55, 0, NULL, NULL, 0), ENOSYS);
  EXPECT_ERROR(futex(&word, FUTEX_WAIT_BITSET_PRIVATE, 0, NULL, NULL, 0), EINVAL);

  pthread_t threads[4];
  for (int i = 0; i < 4; i++) REQUIRE(pthread_create(&threads[i], NULL, waiter, NULL) == 0);
  until_waiting(&word, 4);
  EXPECT_EQ(futex(&word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0), 1);
  EXPECT_EQ(futex(&word, FUTEX_CMP_REQUEUE_PRIVATE, 1, (void*)1, &other, 0), 2);  // one woken, one moved
  EXPECT_EQ(futex(&word, FUTEX_WAKE_PRIVATE, 10, NULL, NULL, 0), 1);
  EXPECT_ERROR(futex(&word, FUTEX_CMP_REQUEUE_PRIVATE, 1, (void*)1, &other, 5), EAGAIN);
  // other = 0 + 7, wake its waiter when it was 0.
  EXPECT_EQ(
      futex(&word, FUTEX_WAKE_OP_PRIVATE, 1, (void*)1, &other, FUTEX_OP(FUTEX_OP_ADD, 7, FUTEX_OP_CMP_EQ, 0)),
      1);
  EXPECT_EQ(other, 7);
  for (int i = 0; i < 4; i++) {
    void* result;
    pthread_join(threads[i], &result);
    EXPECT_EQ((long)result, 0);
  }
  EXPECT_EQ(woken, 4);
  other = 0;

  // Bit sets choose.
  for (int i = 0; i < 2; i++) REQUIRE(pthread_create(&threads[i], NULL, waiter, (void*)(long)(1 << i)) == 0);
  long total = 0;
  for (int i = 0; i < 2000 && total == 0; i++) {
    total += futex(&word, FUTEX_WAKE_BITSET_PRIVATE, 10, NULL, NULL, 2);
    usleep(1000);
  }
  EXPECT_EQ(total, 1);
  pthread_join(threads[1], NULL);
  EXPECT_EQ(futex(&word, FUTEX_WAKE_BITSET_PRIVATE, 10, NULL, NULL, 4), 0);
  total = 0;
  for (int i = 0; i < 2000 && total == 0; i++) {
    total += futex(&word, FUTEX_WAKE_PRIVATE, 10, NULL, NULL, 0);
    usleep(1000);
  }
  EXPECT_EQ(total, 1);
  pthread_join(threads[0], NULL);
  return guest_result();
}
