// Thread-local storage of libraries that are loaded while threads already run (dynamic TLS, __tls_get_addr).
#include <dlfcn.h>
#include <pthread.h>

#include "guest.h"

enum { kThreads = 4 };
static pthread_barrier_t barrier;
static int (*next)(void);

static void* worker(void* argument) {
  pthread_barrier_wait(&barrier);  // all threads exist
  pthread_barrier_wait(&barrier);  // the library is there
  long index = (long)argument;
  int result = 0;
  for (long i = 0; i <= index; i++) result = next();
  return (void*)(long)result;
}

int main(void) {
  pthread_t threads[kThreads];
  pthread_barrier_init(&barrier, NULL, kThreads + 1);
  for (long i = 0; i < kThreads; i++) REQUIRE(pthread_create(&threads[i], NULL, worker, (void*)i) == 0);
  pthread_barrier_wait(&barrier);
  void* library = dlopen(beside_me("libtlsvalue.so"), RTLD_NOW);
  if (library == NULL) printf("%s\n", dlerror());
  REQUIRE(library != NULL);
  next = (int (*)(void))dlsym(library, "library_next");
  REQUIRE(next != NULL);
  pthread_barrier_wait(&barrier);
  for (int i = 0; i < kThreads; i++) {
    void* result;
    REQUIRE(pthread_join(threads[i], &result) == 0);
    EXPECT_EQ((long)result, 101 + i);
  }
  EXPECT_EQ(next(), 101);
  EXPECT_EQ(dlclose(library), 0);
  return guest_result();
}
