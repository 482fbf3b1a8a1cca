// rdtsc and rdtscp: never backwards, in one thread and between threads; rdtscp's processor number is
// plausible.
#include <pthread.h>

#include "guest.h"

static uint64_t rdtsc(void) {
  uint32_t low, high;
  __asm__ volatile("lfence\n rdtsc\n lfence" : "=a"(low), "=d"(high) : : "memory");
  return (uint64_t)high << 32 | low;
}
static uint64_t rdtscp(unsigned* cpu) {
  uint32_t low, high;
  __asm__ volatile("rdtscp\n lfence" : "=a"(low), "=d"(high), "=c"(*cpu) : : "memory");
  return (uint64_t)high << 32 | low;
}

static uint64_t last;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long backwards;

static void* run(void* argument) {
  for (int i = 0; i < 2000; i++) {
    pthread_mutex_lock(&mutex);
    uint64_t now = rdtsc();
    if (now < last) backwards++;
    last = now;
    pthread_mutex_unlock(&mutex);
  }
  return argument;
}

int main(void) {
  uint64_t before = rdtsc();
  int equal = 0;
  for (int i = 0; i < 10000; i++) {
    unsigned cpu;
    uint64_t now = i % 2 ? rdtsc() : rdtscp(&cpu);
    if (i % 2 == 0) EXPECT((cpu & 0xfff) < 4096);
    EXPECT(now >= before);
    equal += now == before;
    before = now;
  }
  EXPECT(equal < 5000);
  // The upper halves of the registers are cleared.
  uint64_t rax, rdx;
  __asm__ volatile("mov $-1, %%rax\n mov $-1, %%rdx\n rdtsc" : "=a"(rax), "=d"(rdx));
  EXPECT(rax >> 32 == 0 && rdx >> 32 == 0);
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) REQUIRE(pthread_create(&threads[i], NULL, run, NULL) == 0);
  for (int i = 0; i < 4; i++) REQUIRE(pthread_join(threads[i], NULL) == 0);
  EXPECT_EQ(backwards, 0);
  printf("forwards\n");
  return guest_result();
}
