// Counters shared by sixteen threads: every atomic form counts exactly, 16-byte compare-and-exchange
// included; message passing by release and acquire never shows a torn or stale value.
// @needs: cx16
#include <pthread.h>

#include "guest.h"

enum { kThreads = 16, kRounds = 20000 };

static uint64_t added, incremented, exchanged, looped;
static uint32_t narrow;
static uint8_t byte_counter;
static unsigned __int128 wide;
static struct {
  uint64_t payload[8];
  uint64_t ready;
} mail;
static volatile long torn;

static int compare_exchange_16(unsigned __int128* at, unsigned __int128 expected, unsigned __int128 desired) {
  unsigned char done;
  uint64_t low = (uint64_t)expected, high = (uint64_t)(expected >> 64);
  __asm__ volatile("lock cmpxchg16b %1\n setz %0"
                   : "=q"(done), "+m"(*at), "+a"(low), "+d"(high)
                   : "b"((uint64_t)desired), "c"((uint64_t)(desired >> 64))
                   : "cc");
  return done;
}

static void* worker(void* argument) {
  (void)argument;
  for (int i = 0; i < kRounds; i++) {
    __atomic_fetch_add(&added, 3, __ATOMIC_SEQ_CST);
    __asm__ volatile("lock incq %0" : "+m"(incremented) : : "cc");
    __asm__ volatile("lock incl %0" : "+m"(narrow) : : "cc");
    __asm__ volatile("lock incb %0" : "+m"(byte_counter) : : "cc");
    uint64_t old = __atomic_load_n(&looped, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&looped, &old, old + 1, 1, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
    }
    uint64_t one = 1;
    __asm__ volatile("lock xadd %0, %1" : "+r"(one), "+m"(exchanged) : : "cc");
    unsigned __int128 value;
    do {
      value = *(volatile unsigned __int128*)&wide;  // may be torn; then the exchange fails
    } while (!compare_exchange_16(&wide, value, value + (((unsigned __int128)1 << 64) | 1)));
  }
  return NULL;
}

static void* sender(void* argument) {
  for (uint64_t i = 1; i <= kRounds; i++) {
    while (__atomic_load_n(&mail.ready, __ATOMIC_ACQUIRE) != 0) sched_yield();
    for (int k = 0; k < 8; k++) mail.payload[k] = i * (uint64_t)(k + 1);
    __atomic_store_n(&mail.ready, i, __ATOMIC_RELEASE);
  }
  return argument;
}

int main(void) {
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; i++) REQUIRE(pthread_create(&threads[i], NULL, worker, NULL) == 0);
  for (int i = 0; i < kThreads; i++) REQUIRE(pthread_join(threads[i], NULL) == 0);
  uint64_t total = (uint64_t)kThreads * kRounds;
  EXPECT_EQ(added, 3 * total);
  EXPECT_EQ(incremented, total);
  EXPECT_EQ(narrow, total);
  EXPECT_EQ(byte_counter, (uint8_t)total);
  EXPECT_EQ(looped, total);
  EXPECT_EQ(exchanged, total);
  EXPECT_EQ((uint64_t)wide, total);
  EXPECT_EQ((uint64_t)(wide >> 64), total);
  REQUIRE(pthread_create(&threads[0], NULL, sender, NULL) == 0);
  for (uint64_t i = 1; i <= kRounds; i++) {
    uint64_t got;
    while ((got = __atomic_load_n(&mail.ready, __ATOMIC_ACQUIRE)) == 0) sched_yield();
    torn += got != i;
    for (int k = 0; k < 8; k++) torn += mail.payload[k] != i * (uint64_t)(k + 1);
    __atomic_store_n(&mail.ready, 0, __ATOMIC_RELEASE);
  }
  REQUIRE(pthread_join(threads[0], NULL) == 0);
  EXPECT_EQ(torn, 0);
  printf("%llu\n", (unsigned long long)total);
  return guest_result();
}
