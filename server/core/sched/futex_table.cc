#include "server/core/sched/futex_table.h"

#include <algorithm>

namespace detrec::core {

std::uint32_t FutexTable::find(const FutexKey& key) const {
  std::uint32_t row = arena_->bucket(futex_bucket(key, arena_->header().buckets));
  while (row != 0 && arena_->key(row).key != key) row = arena_->key(row).next;
  return row;
}

void FutexTable::add(ThreadId tid, const FutexKey& key, std::uint32_t mask) {
  const Row row = arena_->obtain(tid);
  FutexNode& node = arena_->futex(row);
  if (node.key != 0) fatal("thread {} waits on two futexes", tid.value);
  std::uint32_t at = find(key);
  if (at == 0) {
    // As many key rows as thread rows, and a thread waits on one key only: never exhausted.
    ArenaHeader& h = arena_->header();
    at = h.free_keys;
    check(at != 0, "futex keys are exhausted");
    h.free_keys = arena_->key(at).next;
    std::uint32_t& bucket = arena_->bucket(futex_bucket(key, h.buckets));
    arena_->key(at) = FutexKeyRow{key, bucket, 0, kNoRow, kNoRow};
    bucket = at;
  }
  FutexKeyRow& k = arena_->key(at);
  node = FutexNode{at, k.tail, kNoRow, mask, false};
  (k.tail == kNoRow ? k.head : arena_->futex(k.tail).next) = row;
  k.tail = row;
  ++k.count;
  ++waiters_;
}

bool FutexTable::remove(ThreadId tid) {
  const Row row = arena_->find(tid);
  if (row == kNoRow || arena_->futex(row).key == 0) return false;
  FutexNode& node = arena_->futex(row);
  const std::uint32_t at = node.key;
  FutexKeyRow& k = arena_->key(at);
  (node.prev == kNoRow ? k.head : arena_->futex(node.prev).next) = node.next;
  (node.next == kNoRow ? k.tail : arena_->futex(node.next).prev) = node.prev;
  node.key = 0;
  node.prev = node.next = kNoRow;
  --waiters_;
  if (--k.count != 0) return true;
  ArenaHeader& h = arena_->header();
  std::uint32_t* link = &arena_->bucket(futex_bucket(k.key, h.buckets));
  while (*link != at) link = &arena_->key(*link).next;
  *link = k.next;
  k.next = h.free_keys;
  h.free_keys = at;
  return true;
}

bool FutexTable::waiting(ThreadId tid) const {
  const Row row = arena_->find(tid);
  return row != kNoRow && arena_->futex(row).key != 0;
}

std::optional<FutexKey> FutexTable::key_of(ThreadId tid) const {
  if (!waiting(tid)) return std::nullopt;
  return arena_->key(arena_->futex(arena_->find(tid)).key).key;
}

std::uint32_t FutexTable::mask_of(ThreadId tid) const {
  return waiting(tid) ? arena_->futex(arena_->find(tid)).mask : 0;
}

std::vector<ThreadId> FutexTable::take(const FutexKey& key, std::uint32_t count, std::uint32_t mask,
                                       RandomStream* fuzz) {
  std::vector<ThreadId> chosen;
  const std::uint32_t at = find(key);
  if (at == 0 || count == 0 || mask == 0) return chosen;
  for (Row row = arena_->key(at).head; row != kNoRow; row = arena_->futex(row).next) {
    if ((arena_->futex(row).mask & mask) == 0) continue;
    chosen.push_back(arena_->queue(row).tid);
    if (fuzz == nullptr && chosen.size() == count) break;
  }
  if (fuzz != nullptr && chosen.size() > count) {
    // Partial Fisher-Yates over positions, then back to registration order.
    std::vector<std::size_t> positions(chosen.size());
    for (std::size_t i = 0; i < positions.size(); ++i) positions[i] = i;
    for (std::size_t i = 0; i < count; ++i)
      std::swap(positions[i], positions[i + fuzz->below(positions.size() - i)]);
    positions.resize(count);
    std::sort(positions.begin(), positions.end());
    std::vector<ThreadId> picked;
    for (const std::size_t p : positions) picked.push_back(chosen[p]);
    chosen = std::move(picked);
  }
  for (const ThreadId tid : chosen) remove(tid);
  return chosen;
}

std::uint32_t FutexTable::move(const FutexKey& from, std::uint32_t count, const FutexKey& to) {
  std::vector<ThreadId> moving = waiters_of(from);
  if (moving.size() > count) moving.resize(count);
  if (from != to) {
    for (const ThreadId tid : moving) {
      const std::uint32_t mask = mask_of(tid);
      remove(tid);
      add(tid, to, mask);
    }
  }
  return static_cast<std::uint32_t>(moving.size());
}

std::vector<ThreadId> FutexTable::waiters_of(const FutexKey& key) const {
  std::vector<ThreadId> out;
  const std::uint32_t at = find(key);
  if (at == 0) return out;
  for (Row row = arena_->key(at).head; row != kNoRow; row = arena_->futex(row).next)
    out.push_back(arena_->queue(row).tid);
  return out;
}

std::vector<FutexKey> FutexTable::keys() const {
  std::vector<FutexKey> out;
  for (std::uint32_t n = 0; n < arena_->header().buckets; ++n) {
    for (std::uint32_t row = arena_->bucket(n); row != 0; row = arena_->key(row).next)
      out.push_back(arena_->key(row).key);
  }
  std::sort(out.begin(), out.end());
  return out;
}

bool FutexTable::timed_out(ThreadId tid) const {
  const Row row = arena_->find(tid);
  return row != kNoRow && arena_->futex(row).timed_out;
}

void FutexTable::set_timed_out(ThreadId tid, bool value) {
  if (const Row row = arena_->find(tid); row != kNoRow) arena_->futex(row).timed_out = value;
}

}  // namespace detrec::core
