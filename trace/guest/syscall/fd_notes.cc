#include "trace/guest/syscall/fd_notes.h"

#include <asm/stat.h>

#include "trace/guest/base/syscall.h"
#include "trace/guest/syscall/files.h"

namespace detrec::guest::syscall {
namespace {

/// Higher descriptors are asked about every time.
constexpr u64 kKnown = 4096;

u64 notes[kFdNotes][kKnown / 64];

u64& word(u64 fd, FdNote note) { return notes[static_cast<int>(note)][fd / 64]; }
u64 bit(u64 fd) { return u64{1} << (fd % 64); }

}  // namespace

bool has_note(Turn& turn, u64 fd, FdNote note) {
  return fd < kKnown && (word(fd, note) & bit(fd)) != 0 && !turn.thread().vfork_child;
}

void add_note(Turn& turn, u64 fd, FdNote note) {
  if (fd < kKnown && !turn.thread().vfork_child) word(fd, note) |= bit(fd);
}

void forget_fd(u64 fd) {
  if (fd >= kKnown) return;
  for (int i = 0; i < kFdNotes; ++i) notes[i][fd / 64] &= ~bit(fd);
}

void forget_fds(u64 first, u64 last) {
  if (last >= kKnown) last = kKnown - 1;
  for (u64 fd = first; fd <= last; ++fd) forget_fd(fd);
}

void forget_all_fds() { forget_fds(0, kKnown - 1); }

bool never_waits(Turn& turn, u64 fd) {
  if (has_note(turn, fd, FdNote::kNeverWaits)) return true;
  if (has_note(turn, fd, FdNote::kMayWait)) return false;
  struct stat status;
  if (failed(raw_syscall(__NR_fstat, fd, arg(&status)))) return true;
  u32 type = status.st_mode & kTypeMask;
  bool never = type == kRegularFile || type == kDirectory || type == kBlockDevice;
  add_note(turn, fd, never ? FdNote::kNeverWaits : FdNote::kMayWait);
  return never;
}

}  // namespace detrec::guest::syscall
