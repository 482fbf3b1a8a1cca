// The C library's allocator under stress: all sizes, aligned blocks, realloc, calloc, four threads; contents
// checked.
#include <malloc.h>
#include <pthread.h>

#include "guest.h"

enum { kSlots = 500, kSteps = 20000 };

static void* run(void* argument) {
  unsigned state = (unsigned)(uintptr_t)argument * 7919 + 1;
  unsigned char* blocks[kSlots] = {0};
  size_t sizes[kSlots] = {0};
  long bad = 0;
  for (int step = 0; step < kSteps; step++) {
    state = state * 1103515245u + 12345u;
    unsigned slot = state / 65536 % kSlots;
    if (blocks[slot]) {
      for (size_t i = 0; i < sizes[slot]; i += 1 + sizes[slot] / 16)
        bad += blocks[slot][i] != (unsigned char)slot;
    }
    state = state * 1103515245u + 12345u;
    size_t size = state / 65536 % 100 < 95 ? state / 1024 % 3000 + 1 : state / 1024 % 300000 + 1;
    switch (state / 65536 % 4) {
      case 0:
        free(blocks[slot]);
        blocks[slot] = malloc(size);
        break;
      case 1:
        free(blocks[slot]);
        blocks[slot] = calloc(1, size);
        for (size_t i = 0; i < size; i += 1 + size / 16) bad += blocks[slot][i] != 0;
        break;
      case 2:
        blocks[slot] = realloc(blocks[slot], size);
        break;
      case 3:
        free(blocks[slot]);
        blocks[slot] = memalign(256, size);
        bad += (uintptr_t)blocks[slot] % 256 != 0;
        break;
    }
    if (blocks[slot] == NULL) return (void*)-1l;
    sizes[slot] = size;
    memset(blocks[slot], (int)slot, size);
  }
  for (int i = 0; i < kSlots; i++) free(blocks[i]);
  return (void*)bad;
}

int main(void) {
  pthread_t threads[4];
  for (uintptr_t i = 0; i < 4; i++) REQUIRE(pthread_create(&threads[i], NULL, run, (void*)i) == 0);
  for (int i = 0; i < 4; i++) {
    void* bad;
    REQUIRE(pthread_join(threads[i], &bad) == 0);
    EXPECT_EQ((long)bad, 0);
  }
  void* large = malloc(500 << 20);
  EXPECT(large != NULL);
  free(large);
  malloc_trim(0);
  volatile size_t absurd = (size_t)1 << 62;
  EXPECT(malloc(absurd) == NULL && errno == ENOMEM);
  return guest_result();
}
