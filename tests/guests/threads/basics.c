// Threads: creation, results, detaching, stacks of own size and place, names, identity.
#include <pthread.h>
#include <sys/mman.h>

#include "guest.h"

static __thread int own = 5;
static pthread_t first_thread;

static void* count(void* argument) {
  EXPECT_EQ(own, 5);
  own += (int)(long)argument;
  EXPECT(gettid() != getpid());
  EXPECT(!pthread_equal(pthread_self(), first_thread));
  return (void*)(long)(own * 10);
}

static void* leave(void* argument) { pthread_exit((char*)argument + 1); }

static void* recurse(void* argument) {
  long depth = (long)argument;
  if (depth == 0) return NULL;
  pthread_t next;
  void* below;
  REQUIRE(pthread_create(&next, NULL, recurse, (void*)(depth - 1)) == 0);
  REQUIRE(pthread_join(next, &below) == 0);
  return (char*)below + 1;
}

static volatile int detached_done;
static void* detached(void* argument) {
  __atomic_store_n(&detached_done, 1, __ATOMIC_SEQ_CST);
  return argument;
}

static char* stack_base;
static void* on_own_stack(void* argument) {
  char local;
  EXPECT(&local > stack_base && &local < stack_base + (256 << 10));
  volatile char large[200 << 10];
  large[0] = large[sizeof large - 1] = 1;
  return argument;
}

int main(void) {
  first_thread = pthread_self();
  pthread_t threads[16];
  for (long i = 0; i < 16; i++) REQUIRE(pthread_create(&threads[i], NULL, count, (void*)i) == 0);
  for (long i = 0; i < 16; i++) {
    void* result;
    EXPECT_EQ(pthread_join(threads[i], &result), 0);
    EXPECT_EQ((long)result, (5 + i) * 10);
  }
  EXPECT_EQ(own, 5);
  void* result;
  REQUIRE(pthread_create(&threads[0], NULL, leave, (void*)41) == 0);
  EXPECT_EQ(pthread_join(threads[0], &result), 0);
  EXPECT_EQ((long)result, 42);
  REQUIRE(pthread_create(&threads[0], NULL, recurse, (void*)20) == 0);
  EXPECT_EQ(pthread_join(threads[0], &result), 0);
  EXPECT_EQ((long)result, 20);

  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  REQUIRE(pthread_create(&threads[0], &attributes, detached, NULL) == 0);
  while (!__atomic_load_n(&detached_done, __ATOMIC_SEQ_CST)) usleep(1000);
  pthread_attr_init(&attributes);
  stack_base = mmap(NULL, 256 << 10, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  pthread_attr_setstack(&attributes, stack_base, 256 << 10);
  REQUIRE(pthread_create(&threads[0], &attributes, on_own_stack, NULL) == 0);
  EXPECT_EQ(pthread_join(threads[0], NULL), 0);
  char name[16];
  EXPECT_EQ(pthread_setname_np(pthread_self(), "named"), 0);
  EXPECT_EQ(pthread_getname_np(pthread_self(), name, sizeof name), 0);
  printf("%s\n", name);
  // Thousands, one after the other.
  for (int i = 0; i < 2000; i++) {
    REQUIRE(pthread_create(&threads[0], NULL, leave, NULL) == 0);
    REQUIRE(pthread_join(threads[0], NULL) == 0);
  }
  return guest_result();
}
