#include "trace/guest/events/ring.h"

#include <linux/mman.h>

#include "trace/guest/base/layout.h"
#include "trace/guest/base/print.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/events/mode.h"
#include "trace/guest/events/shared_context.h"
#include "trace/guest/process.h"
#include "trace/wire/clock_record.h"

namespace detrec::guest::events {
namespace {

constexpr u64 kFutexWait = 0, kFutexWake = 1;

wire::RingControl* control = nullptr;
u8* data = nullptr;
u64 ring_bytes = 0;
u64 position = 0;  ///< the writer's `written`, or the reader's `read`
u64 known = 0;     ///< the other side's position as last seen

u64 load(const u64& word) { return __atomic_load_n(&word, __ATOMIC_ACQUIRE); }

const wire::EventHeader* record_at(u64 at) {
  return reinterpret_cast<const wire::EventHeader*>(data + (at & (ring_bytes - 1)));
}

/// Sleeps until the other side moves, or for a nap: the other side wakes only whom it is about to need.
void nap(u32& waits) {
  const i64 patience[2] = {0, static_cast<i64>(wire::kNapNs)};  // struct timespec
  __atomic_store_n(&waits, 1, __ATOMIC_SEQ_CST);
  raw_syscall(__NR_futex, arg(&waits), kFutexWait, 1, arg(patience));
  __atomic_store_n(&waits, 0, __ATOMIC_RELAXED);
}

void wake(u32& waits) {
  if (__atomic_load_n(&waits, __ATOMIC_RELAXED) == 0) return;  // who is about to sleep will look by itself
  if (__atomic_exchange_n(&waits, 0, __ATOMIC_SEQ_CST) != 0)
    raw_syscall(__NR_futex, arg(&waits), kFutexWake, 1);
}

void map_part(u64 at, u64 bytes, i32 fd, u64 offset) {
  SysResult r = raw_syscall(__NR_mmap, at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE,
                            static_cast<u64>(fd), offset);
  if (static_cast<u64>(r) != at) DETREC_PANIC("cannot map the ring: error %ld", -r);
}

}  // namespace

void start_ring(const wire::Launch& launch, i32 fd) {
  if (launch.mode == wire::ChannelMode::kNone) return;
  ring_bytes = launch.ring_bytes;
  map_part(kRingAddress, wire::kChannelPage + ring_bytes, fd, launch.ring_offset);
  map_part(kRingAddress + wire::kChannelPage + ring_bytes, ring_bytes, fd,
           launch.ring_offset + wire::kChannelPage);
  control = reinterpret_cast<wire::RingControl*>(kRingAddress);
  data = reinterpret_cast<u8*>(kRingAddress + wire::kChannelPage);
  current_mode = launch.mode;
  if (recording()) share_context(*process().launch, fd);
  // An execve goes on where the image before it has stopped.
  position = load(recording() ? control->written : control->read);
  known = load(recording() ? control->read : control->written);
}

void move_ring(u64 ring_offset) {
  raw_syscall(__NR_munmap, kRingAddress, wire::kChannelPage + 2 * ring_bytes);
  wire::Launch& launch = *process().launch;
  launch.ring_offset = ring_offset;
  start_ring(launch, process().own_fds[kLaunchFd]);
}

void leave_ring() {
  if (control == nullptr) return;
  raw_syscall(__NR_munmap, kRingAddress, wire::kChannelPage + 2 * ring_bytes);
  control = nullptr;
  current_mode = wire::ChannelMode::kNone;
}

u8* reserve_record() {
  while (ring_bytes - (position - known) < wire::kMaxRecordBytes) {
    known = load(control->read);
    if (ring_bytes - (position - known) >= wire::kMaxRecordBytes) break;
    wake(control->reader_waits);
    nap(control->writer_waits);
  }
  return data + (position & (ring_bytes - 1));
}

void commit_record(u64 bytes) {
  position += bytes;
  __atomic_store_n(&control->written, position, __ATOMIC_RELEASE);
  if (position - known > ring_bytes / 2) {
    known = load(control->read);
    if (position - known > ring_bytes / 2) wake(control->reader_waits);
  }
}

u32 captures_read() { return __atomic_load_n(&control->captures_read, __ATOMIC_ACQUIRE); }

void await_capture_after(u32 seen) {
  const i64 patience[2] = {0, static_cast<i64>(wire::kNapNs)};  // struct timespec
  raw_syscall(__NR_futex, arg(&control->captures_read), kFutexWait, seen, arg(patience));
}

const wire::EventHeader* peek_record() {
  while (position == known) {
    known = load(control->written);
    if (position != known) break;
    if (__atomic_load_n(&control->ended, __ATOMIC_ACQUIRE) != 0) {
      known = load(control->written);
      if (position == known) return nullptr;
      break;
    }
    wake(control->writer_waits);
    nap(control->reader_waits);
  }
  const wire::EventHeader* record = record_at(position);
  if (record->kind != wire::kClockRecord) return record;
  static wire::ClockCall call;
  wire::expand(*reinterpret_cast<const wire::ClockRecord*>(record), call);
  return &call.header;
}

const wire::EventHeader* ready_record(const wire::EventHeader*& after) {
  after = nullptr;
  if (position == known) known = load(control->written);
  if (position == known) return nullptr;
  const wire::EventHeader* record = record_at(position);
  u64 behind = position + record->size;
  if (behind == known) known = load(control->written);
  if (behind != known) after = record_at(behind);
  return record;
}

void consume_record() {
  position += record_at(position)->size;
  __atomic_store_n(&control->read, position, __ATOMIC_RELEASE);
  if (known - position < ring_bytes / 2 && __atomic_load_n(&control->writer_waits, __ATOMIC_RELAXED) != 0) {
    known = load(control->written);
    if (known - position < ring_bytes / 2) wake(control->writer_waits);
  }
}

}  // namespace detrec::guest::events
