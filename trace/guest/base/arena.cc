#include "trace/guest/base/arena.h"

#include "trace/guest/base/layout.h"
#include "trace/guest/base/mutex.h"
#include "trace/guest/base/print.h"
#include "trace/guest/base/syscall.h"

namespace detrec::guest {
namespace {

constexpr u64 kProtRead = 1, kProtWrite = 2, kMapPrivate = 2, kMapAnonymous = 0x20, kMapNoReserve = 0x4000,
              kMapFixedNoReplace = 0x100000;

/// Released ranges wait here for a request of the same size: thread stacks, mostly.
struct FreeRange {
  u64 start;
  u64 bytes;
};
constexpr int kFreeRanges = 256;

struct Heap {
  Mutex mutex;
  u64 next = kEngineHeapBegin;
  FreeRange free[kFreeRanges];
  int free_count = 0;
};

Heap& heap() {
  static Heap instance;
  return instance;
}

u64 map_pages(u64 bytes) {
  u64 at = heap().next;
  if (at + bytes > kEngineHeapEnd) DETREC_PANIC("the engine's heap is full (%lu bytes wanted)", bytes);
  SysResult r = raw_syscall(__NR_mmap, at, bytes, kProtRead | kProtWrite,
                            kMapPrivate | kMapAnonymous | kMapNoReserve | kMapFixedNoReplace, ~0ull, 0);
  if (failed(r) || static_cast<u64>(r) != at)
    DETREC_PANIC("cannot map %lu bytes for the engine: error %ld", bytes, -r);
  heap().next = at + bytes + kPageSize;  // a gap page between reservations catches overruns
  return at;
}

}  // namespace

void* engine_reserve(u64 bytes) {
  bytes = page_up(bytes);
  MutexGuard guard(heap().mutex);
  Heap& h = heap();
  for (int i = 0; i < h.free_count; ++i) {
    if (h.free[i].bytes == bytes) {
      u64 start = h.free[i].start;
      h.free[i] = h.free[--h.free_count];
      return reinterpret_cast<void*>(start);
    }
  }
  return reinterpret_cast<void*>(map_pages(bytes));
}

void* engine_reserve_stack(u64 bytes) { return engine_reserve(bytes); }  // the gap page below is the guard

void engine_release(void* start, u64 bytes) {
  bytes = page_up(bytes);
  constexpr u64 kDontNeed = 4;
  raw_syscall(__NR_madvise, arg(start), bytes, kDontNeed);
  MutexGuard guard(heap().mutex);
  Heap& h = heap();
  if (h.free_count < kFreeRanges) h.free[h.free_count++] = {arg(start), bytes};
}

}  // namespace detrec::guest
