#include "trace/guest/signal/queue.h"

#include "trace/guest/signal/numbers.h"

namespace detrec::guest::signal {
namespace {

u32 order_of(const QueuedSignal& entry) { return __atomic_load_n(&entry.order, __ATOMIC_ACQUIRE); }

/// Frees an entry. Its bit in `pending` is cleared first and set again if another entry has the same number:
/// a handler that adds one in between sets it as well.
void release(SignalState& state, QueuedSignal& entry) {
  int signo = entry.info.signo;
  __atomic_store_n(&entry.order, 0, __ATOMIC_RELEASE);
  __atomic_fetch_and(&state.pending, ~bit(signo), __ATOMIC_SEQ_CST);
  for (const QueuedSignal& other : state.queue) {
    if (order_of(other) != 0 && other.info.signo == signo) {
      __atomic_fetch_or(&state.pending, bit(signo), __ATOMIC_SEQ_CST);
    }
  }
}

bool comes_before(const QueuedSignal& a, const QueuedSignal& b) {
  bool a_first = kFirst & bit(a.info.signo), b_first = kFirst & bit(b.info.signo);
  if (a_first != b_first) return a_first;
  if (a.info.signo != b.info.signo) return a.info.signo < b.info.signo;
  return static_cast<i32>(a.order - b.order) < 0;
}

}  // namespace

bool enqueue(SignalState& state, const SignalInfo& info) {
  if (info.signo < kFirstRealtime && (__atomic_load_n(&state.pending, __ATOMIC_SEQ_CST) & bit(info.signo)))
    return true;
  for (QueuedSignal& entry : state.queue) {
    if (order_of(entry) != 0) continue;
    entry.info = info;
    if (state.next_order == 0) state.next_order = 1;
    __atomic_store_n(&entry.order, state.next_order++, __ATOMIC_RELEASE);
    __atomic_fetch_or(&state.pending, bit(info.signo), __ATOMIC_SEQ_CST);
    return true;
  }
  return false;
}

bool dequeue(SignalState& state, u64 allowed, SignalInfo& info) {
  if ((__atomic_load_n(&state.pending, __ATOMIC_SEQ_CST) & allowed) == 0) return false;
  QueuedSignal* best = nullptr;
  for (QueuedSignal& entry : state.queue) {
    if (order_of(entry) == 0 || !(allowed & bit(entry.info.signo))) continue;
    if (best == nullptr || comes_before(entry, *best)) best = &entry;
  }
  if (best == nullptr) return false;
  info = best->info;
  release(state, *best);
  return true;
}

void discard(SignalState& state, u64 signals) {
  for (QueuedSignal& entry : state.queue) {
    if (order_of(entry) != 0 && (signals & bit(entry.info.signo))) release(state, entry);
  }
}

}  // namespace detrec::guest::signal
