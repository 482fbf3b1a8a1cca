// Writes to files that reach guest memory by another way than a pointer: a file that is mapped, and
// /proc/self/mem.
#pragma once

#include "trace/guest/syscall/handlers.h"

namespace detrec::guest::syscall {

/// What a call that changes a file does to guest memory. Between construction and finish() the call is made.
class FileWrite {
 public:
  /// `row` has kWritesFile.
  FileWrite(Turn& turn, const SyscallRow& row, const Args& args);

  /// -EIO when the call would write the engine's memory; else 0.
  SysResult refused() const { return refused_; }

  /// After the call: drops what was translated from the memory that changed, and has the change recorded.
  /// Returns `r`.
  SysResult finish(SysResult r);

 private:
  void note_changes(SysResult r);

  Turn& turn_;
  const SyscallRow& row_;
  Args args_;
  u64 size_ = 0;  ///< of the mapped file, before the call
  bool mapped_ = false;
  u64 device_ = 0;
  u64 inode_ = 0;
  GuestAddr memory_ = 0;     ///< where a write through /proc/self/mem begins
  GuestAddr own_begin_ = 0;  ///< its pages
  GuestAddr own_end_ = 0;
  SysResult refused_ = 0;
};

/// Recording, before an opening that empties a file: its content is captured first.
void prepare_opening(Turn& turn, i32 number);
/// Recording: a file that is mapped may have been emptied by opening it.
void note_opening(Turn& turn, i32 number, SysResult fd);

}  // namespace detrec::guest::syscall
