// One event record under construction in the ring.
#pragma once

#include <new>

#include "trace/guest/base/probe.h"
#include "trace/guest/base/string.h"
#include "trace/guest/events/ring.h"
#include "trace/guest/run/turn.h"

namespace detrec::guest::events {

class Record {
 public:
  /// Of the running thread, where it is.
  Record(Turn& turn, wire::EventKind kind)
      : Record(kind, turn.thread().number, turn.ticks(), turn.regs().pc) {}
  Record(wire::EventKind kind, u32 thread, u64 ticks, GuestAddr pc)
      : begin_(reserve_record()), end_(begin_ + sizeof(wire::EventHeader)) {
    header() = {0, kind, 0, thread, 0, ticks, pc};
  }

  wire::EventHeader& header() { return *reinterpret_cast<wire::EventHeader*>(begin_); }

  /// Appends a structure (a multiple of 8 bytes), zeroed.
  template <class T>
  T& append() {
    static_assert(sizeof(T) % 8 == 0);
    return *new (take(sizeof(T))) T{};
  }
  /// Appends `size` bytes, padded with zeros; the caller fills them in.
  u8* take(u64 size) {
    u8* at = end_;
    u64 padded = (size + 7) & ~u64{7};
    if (padded != 0) memset(at + padded - 8, 0, 8);
    end_ += padded;
    return at;
  }
  /// Appends `size` bytes without padding; pad() follows the last of them.
  u8* take_packed(u64 size) {
    u8* at = end_;
    end_ += size;
    return at;
  }
  void pad() {
    while ((end_ - begin_) % 8 != 0) *end_++ = 0;
  }
  /// Bytes that can still be appended.
  u64 room() const { return wire::kMaxRecordBytes - static_cast<u64>(end_ - begin_); }
  /// Takes back what was appended from `at` on.
  void shorten_to(u8* at) { end_ = at; }
  u8* end() { return end_; }

  void commit(bool more_data = false) {
    header().flags = more_data ? wire::kMoreData : 0;
    header().size = static_cast<u32>(end_ - begin_);
    commit_record(header().size);
  }

 private:
  u8* begin_;
  u8* end_;
};

/// Appends the body of a kMapping record and the name behind it; `name` is an index of the address space's
/// names.
wire::MappingBody& append_mapping(Record& record, u64 device, u64 inode, u32 name);

}  // namespace detrec::guest::events
