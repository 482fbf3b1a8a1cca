#include "server/core/sched/arena.h"

#include <cstring>

namespace detrec::core {

static_assert(std::is_trivially_copyable_v<TurnRecord> && std::is_trivially_copyable_v<ArenaHeader>);

Arena::Arena(std::uint32_t capacity) { lay_out(capacity < 4 ? 4 : capacity); }

void Arena::lay_out(std::uint32_t capacity) {
  std::uint32_t buckets = 8;
  while (buckets < capacity * 2) buckets *= 2;
  std::size_t words = 0;
  const auto place = [&words](std::size_t size, std::size_t count) {
    const std::size_t offset = words;
    words += (size * count + 15) / 16 * 2;
    return offset;
  };
  place(sizeof(ArenaHeader), 1);
  index_ = place(sizeof(Row), buckets);
  queue_ = place(sizeof(QueueNode), capacity);
  turns_ = place(sizeof(TurnRecord), capacity);
  futexes_ = place(sizeof(FutexNode), capacity);
  keys_ = place(sizeof(FutexKeyRow), capacity);
  buckets_ = place(sizeof(std::uint32_t), buckets);
  block_.assign(words, 0);
  ArenaHeader& h = header();
  h.capacity = capacity;
  h.buckets = buckets;
  for (std::uint32_t row = capacity - 1; row >= 1; --row) {
    queue(row).left = h.free_rows;
    h.free_rows = row;
    key(row).next = h.free_keys;
    h.free_keys = row;
  }
}

void Arena::grow() {
  Arena bigger(header().capacity * 2);
  const std::uint32_t old = header().capacity;
  ArenaHeader h = header();
  h.capacity = bigger.header().capacity;
  h.buckets = bigger.header().buckets;
  // Rows keep their numbers; the new ones follow the old free list.
  std::memcpy(static_cast<void*>(&bigger.queue(0)), &queue(0), sizeof(QueueNode) * old);
  std::memcpy(static_cast<void*>(&bigger.turn(0)), &turn(0), sizeof(TurnRecord) * old);
  std::memcpy(static_cast<void*>(&bigger.futex(0)), &futex(0), sizeof(FutexNode) * old);
  std::memcpy(static_cast<void*>(&bigger.key(0)), &key(0), sizeof(FutexKeyRow) * old);
  for (std::uint32_t row = h.capacity - 1; row >= old; --row) {
    bigger.queue(row).left = h.free_rows;
    h.free_rows = row;
    bigger.key(row).next = h.free_keys;
    h.free_keys = row;
  }
  bigger.header() = h;
  for (Row row = 1; row < old; ++row) {
    if (queue(row).tid.value == 0) continue;
    std::uint32_t n = bigger.hash(queue(row).tid);
    while (bigger.slot_of(n) != kNoRow) n = (n + 1) & (h.buckets - 1);
    bigger.slot_of(n) = row;
  }
  // Futex buckets: chain every key in use anew, in row order, as a fresh table would be.
  for (std::uint32_t row = 1; row < old; ++row) {
    if (bigger.key(row).count == 0) continue;
    const std::uint32_t n = futex_bucket(key(row).key, h.buckets);
    bigger.key(row).next = bigger.bucket(n);
    bigger.bucket(n) = row;
  }
  *this = std::move(bigger);
}

std::uint32_t Arena::hash(ThreadId tid) const {
  return (static_cast<std::uint32_t>(tid.value) * 0x9e3779b1u) >> 7 & (header().buckets - 1);
}

Row Arena::find(ThreadId tid) const {
  const std::uint32_t mask = header().buckets - 1;
  for (std::uint32_t n = hash(tid);; n = (n + 1) & mask) {
    const Row row = slot_of(n);
    if (row == kNoRow || queue(row).tid == tid) return row;
  }
}

Row Arena::obtain(ThreadId tid) {
  check(tid.value > 0, "thread ids are positive");
  if (const Row row = find(tid); row != kNoRow) return row;
  if (header().free_rows == kNoRow) grow();
  ArenaHeader& h = header();
  const Row row = h.free_rows;
  h.free_rows = queue(row).left;
  ++h.live_rows;
  queue(row) = QueueNode{};
  queue(row).tid = tid;
  turn(row) = TurnRecord{};
  futex(row) = FutexNode{};
  std::uint32_t n = hash(tid);
  while (slot_of(n) != kNoRow) n = (n + 1) & (h.buckets - 1);
  slot_of(n) = row;
  return row;
}

void Arena::release_if_idle(Row row) {
  if (row == kNoRow) return;
  QueueNode& node = queue(row);
  if (node.tid.value == 0 || node.registered || node.queued || node.persistent.value != 0 ||
      futex(row).key != 0)
    return;
  ArenaHeader& h = header();
  const std::uint32_t mask = h.buckets - 1;
  std::uint32_t n = hash(node.tid);
  while (slot_of(n) != row) n = (n + 1) & mask;
  // Backward-shift deletion keeps probe sequences unbroken.
  for (std::uint32_t next = (n + 1) & mask; slot_of(next) != kNoRow; next = (next + 1) & mask) {
    const std::uint32_t home = hash(queue(slot_of(next)).tid);
    if (((next - home) & mask) >= ((next - n) & mask)) {
      slot_of(n) = slot_of(next);
      n = next;
    }
  }
  slot_of(n) = kNoRow;
  node = QueueNode{};
  node.left = h.free_rows;
  h.free_rows = row;
  --h.live_rows;
}

}  // namespace detrec::core
