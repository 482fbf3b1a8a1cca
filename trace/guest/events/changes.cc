// Memory that calls change by ways that the system call table does not describe: mapped files that are
// written, words that the kernel changes on its own. Noted while a call is served, recorded with its event.
#include "trace/guest/base/probe.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/events/mappings.h"

namespace detrec::guest::events {
namespace {

struct Change {
  u64 device, inode;  ///< 0: memory
  u64 begin, end;
};
constexpr u32 kMost = 1024;  // as many as a vector has entries
Change changes[kMost];
u32 count = 0;

void note(const Change& change) {
  if (!recording() || change.begin >= change.end) return;
  if (count != 0) {  // pieces of one write
    Change& last = changes[count - 1];
    if (last.device == change.device && last.inode == change.inode && last.end == change.begin) {
      last.end = change.end;
      return;
    }
  }
  if (count < kMost) changes[count++] = change;
}

using Visit = void (*)(GuestAddr begin, u64 size, void* arg);

/// The pages of [begin, end) that can be read: a mapping may reach beyond the end of its file.
void visit_readable(GuestAddr begin, GuestAddr end, Visit visit, void* arg) {
  GuestAddr from = begin;
  auto flush = [&](GuestAddr to) {
    if (from < to) visit(from, to - from, arg);
  };
  for (GuestAddr at = begin; at < end; at = page_down(at) + kPageSize) {
    u8 byte;
    if (read_guest(byte, at)) continue;
    flush(at);
    from = page_down(at) + kPageSize;
  }
  flush(end);
}

void visit_mappings(const Change& change, bool shared, Visit visit, void* arg) {
  const memory::RegionMap& map = memory::address_space().map;
  for (const memory::Region* m = map.at_or_after(0); m != nullptr; m = map.at_or_after(m->end)) {
    if (m->shared != shared || m->inode != change.inode || m->device != change.device) continue;
    u64 m_end = m->file_offset + m->bytes();
    u64 low = change.begin > m->file_offset ? change.begin : m->file_offset;
    u64 high = change.end < m_end ? change.end : m_end;
    if (low >= high) continue;
    visit_readable(m->begin + (low - m->file_offset), m->begin + (high - m->file_offset), visit, arg);
  }
}

}  // namespace

void note_file_change(u64 device, u64 inode, u64 begin, u64 end) { note({device, inode, begin, end}); }

void note_memory_change(GuestAddr begin, GuestAddr end) { note({0, 0, begin, end}); }

void take_changes(Visit visit, void* arg) {
  for (u32 i = 0; i < count; ++i) {
    const Change& change = changes[i];
    if (change.inode != 0) {
      // Replay finds untouched private pages changed with the shared ones, and leaves them untouched.
      visit_mappings(change, true, visit, arg);
      visit_mappings(change, false, visit, arg);
    } else {
      visit_readable(change.begin, change.end, visit, arg);
    }
  }
  count = 0;
}

}  // namespace detrec::guest::events
