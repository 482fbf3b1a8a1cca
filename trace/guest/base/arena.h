// Memory of the engine's own: bump-allocated from [kEngineHeapBegin, kEngineHeapEnd), touched pages only are
// paid for.
#pragma once

#include <new>
#include <utility>

#include "trace/guest/base/types.h"

namespace detrec::guest {

/// Reserves (NORESERVE, read-write, zero) `bytes` rounded up to pages; never fails short of DETREC_PANIC.
/// Thread-safe.
void* engine_reserve(u64 bytes);

/// Reserves and leaves an inaccessible page below: for stacks. Returns the lowest usable address.
void* engine_reserve_stack(u64 bytes);

/// Returns pages of engine_reserve to the kernel (a thread's stack at its end); the address range is reused
/// by requests of the same size.
void engine_release(void* start, u64 bytes);

/// A growable array over one reservation: elements never move. T is trivially copyable; indices are stable.
template <class T>
class StableArray {
 public:
  /// Reserves room for `capacity` elements (address space only).
  void reserve(u64 capacity) {
    data_ = static_cast<T*>(engine_reserve(capacity * sizeof(T)));
    capacity_ = capacity;
  }
  u64 size() const { return size_; }
  u64 capacity() const { return capacity_; }
  bool full() const { return size_ == capacity_; }
  T& operator[](u64 i) { return data_[i]; }
  const T& operator[](u64 i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  T& push(const T& value) { return *new (&data_[size_++]) T(value); }
  void resize(u64 n) { size_ = n; }

 private:
  T* data_ = nullptr;
  u64 size_ = 0;
  u64 capacity_ = 0;
};

}  // namespace detrec::guest
