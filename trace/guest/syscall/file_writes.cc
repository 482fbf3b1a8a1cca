#include "trace/guest/syscall/file_writes.h"

#include <asm/errno.h>
#include <asm/stat.h>
#include <asm/statfs.h>
#include <asm/unistd_64.h>
#include <linux/fcntl.h>
#include <linux/magic.h>

#include "trace/guest/base/print.h"
#include "trace/guest/base/string.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/events/mappings.h"
#include "trace/guest/memory/guest_map.h"
#include "trace/guest/process.h"
#include "trace/guest/syscall/fd_notes.h"
#include "trace/guest/syscall/files.h"
#include "trace/guest/syscall/ranges.h"
#include "trace/guest/translate/code_pages.h"

namespace detrec::guest::syscall {
namespace {

constexpr u32 kProtExec = 4;

struct Search {
  u64 device;
  u64 inode;
  bool found;
};

bool is_code_of(const memory::Mapping& mapping, const Search& search) {
  return mapping.inode == search.inode && mapping.device == search.device && (mapping.prot & kProtExec) != 0;
}

/// Whether a mapping of the file is executable; when recording, whether there is one at all.
bool matters(u64 device, u64 inode) {
  Search search{device, inode, false};
  memory::for_each(
      [](const memory::Mapping& mapping, const char*, void* to) {
        auto* s = static_cast<Search*>(to);
        bool same = mapping.inode == s->inode && mapping.device == s->device;
        s->found |= same && (events::recording() || is_code_of(mapping, *s));
      },
      &search);
  return search.found;
}

/// /proc/<pid>/mem. Of which process does not matter: what is not written is translated again, no more.
bool is_process_memory(u64 fd) {
  struct statfs file_system;
  if (failed(raw_syscall(__NR_fstatfs, fd, arg(&file_system))) || file_system.f_type != PROC_SUPER_MAGIC)
    return false;
  char link[48], target[64];
  format(link, sizeof(link), "/proc/thread-self/fd/%d", static_cast<i32>(fd));
  SysResult n = raw_syscall(__NR_readlink, arg(link), arg(target), sizeof(target));
  constexpr char kName[] = "/mem";
  constexpr u64 kLength = sizeof(kName) - 1;
  return n > static_cast<SysResult>(kLength) && memcmp(target + n - kLength, kName, kLength) == 0;
}

/// Where a write through /proc/self/mem goes.
struct Span {
  GuestAddr begin;
  u64 bytes;
};

Span span_of(const SyscallRow& row, const Args& args) {
  constexpr u64 kSeekCurrent = 1;
  bool vectored = row.number == __NR_writev || row.number == __NR_pwritev || row.number == __NR_pwritev2;
  bool positioned = row.number == __NR_pwrite64 || row.number == __NR_pwritev || row.number == __NR_pwritev2;
  if (!vectored && row.number != __NR_write && row.number != __NR_pwrite64) return {0, 0};
  Span span{args[3], args[2]};
  if (!positioned) span.begin = static_cast<u64>(raw_syscall(__NR_lseek, args[0], 0, kSeekCurrent));
  if (vectored) {
    span.bytes = 0;
    for_each_iovec(args[1], args[2], [&span](const Iovec& entry) {
      span.bytes += entry.length;
      return true;
    });
  }
  return span;
}

/// The bytes of the file that a call has written; all of them when that is not known.
Span written_part(const SyscallRow& row, const Args& args, SysResult r, u64 file_size) {
  constexpr u64 kSeekCurrent = 1, kAll = ~0ull;
  constexpr SysResult kAppends = O_APPEND;
  u64 bytes = r > 0 ? static_cast<u64>(r) : 0;
  switch (row.number) {
    case __NR_write:
    case __NR_writev: {
      auto end = static_cast<u64>(raw_syscall(__NR_lseek, args[0], 0, kSeekCurrent));
      return {end - bytes, bytes};
    }
    case __NR_pwrite64:
    case __NR_pwritev: {
      SysResult flags = raw_syscall(__NR_fcntl, args[0], F_GETFL);
      if (!failed(flags) && (flags & kAppends) != 0) return {file_size - bytes, bytes};
      return {args[3], bytes};
    }
    default:
      return {0, kAll};
  }
}

SysResult status_of(const SyscallRow& row, const Args& args, struct stat& status) {
  u64 file = args[row.file_arg];
  bool by_path = row.args[row.file_arg].kind == syscalls::ArgKind::kPath;
  return raw_syscall(by_path ? __NR_stat : __NR_fstat, file, arg(&status));
}

}  // namespace

namespace {
bool may_empty(Turn& turn, i32 number) {
  u64 flags = 0;
  switch (number) {
    case __NR_creat:
      return true;
    case __NR_open:
      return (turn.arg(1) & O_TRUNC) != 0;
    case __NR_openat:
      return (turn.arg(2) & O_TRUNC) != 0;
    case __NR_openat2:  // struct open_how begins with the flags
      return read_guest(flags, turn.arg(2)) && (flags & O_TRUNC) != 0;
    default:
      return false;
  }
}
}  // namespace

void prepare_opening(Turn& turn, i32 number) {
  if (may_empty(turn, number)) events::await_captures();
}

void note_opening(Turn& turn, i32 number, SysResult fd) {
  struct stat status;
  if (!may_empty(turn, number) || failed(fd) ||
      failed(raw_syscall(__NR_fstat, static_cast<u64>(fd), arg(&status))))
    return;
  if ((status.st_mode & kTypeMask) != kRegularFile || !matters(status.st_dev, status.st_ino)) return;
  events::record_shorter_file(turn, static_cast<i32>(fd), status.st_dev, status.st_ino);
}

FileWrite::FileWrite(Turn& turn, const SyscallRow& row, const Args& args)
    : turn_(turn), row_(row), args_(args) {
  u64 fd = static_cast<u32>(args[row.file_arg]);
  bool by_path = row.args[row.file_arg].kind == syscalls::ArgKind::kPath;
  if (!by_path && has_note(turn, fd, FdNote::kNoCode) && !events::captures_pending()) return;
  struct stat status;
  if (failed(status_of(row, args, status))) return;
  bool regular = (status.st_mode & kTypeMask) == kRegularFile;
  if (regular) events::await_captures_of(status.st_dev, status.st_ino);
  if (!by_path && regular && is_process_memory(fd)) {
    Span span = span_of(row, args);
    GuestAddr end = span.begin + span.bytes;
    if (end < span.begin || end > kUserEnd) return;  // the kernel refuses it
    if (span.bytes != 0 && memory::touches_engine(span.begin, end)) refused_ = error(EIO);
    memory_ = span.begin;
    own_begin_ = page_down(span.begin);
    own_end_ = page_up(end);
    return;
  }
  mapped_ = regular && matters(status.st_dev, status.st_ino);
  size_ = static_cast<u64>(status.st_size);
  device_ = status.st_dev;
  inode_ = status.st_ino;
  if (!mapped_ && !by_path) add_note(turn, fd, FdNote::kNoCode);
}

void FileWrite::note_changes(SysResult r) {
  if (own_begin_ < own_end_ && r > 0) events::note_memory_change(memory_, memory_ + static_cast<u64>(r));
  if (!mapped_) return;
  struct stat status;
  if (failed(status_of(row_, args_, status))) return;
  auto size = static_cast<u64>(status.st_size);
  bool by_path = row_.args[row_.file_arg].kind == syscalls::ArgKind::kPath;
  if (size < size_) {
    u64 opened =
        by_path ? static_cast<u64>(raw_syscall(__NR_open, args_[row_.file_arg], O_RDONLY | O_CLOEXEC)) : 0;
    auto fd = static_cast<i32>(by_path ? opened : args_[row_.file_arg]);
    if (fd >= 0) events::record_shorter_file(turn_, fd, device_, inode_);
    if (by_path && fd >= 0) raw_syscall(__NR_close, opened);
  }
  Span part = written_part(row_, args_, r, size);
  u64 end = part.bytes > size - part.begin ? page_up(size) : part.begin + part.bytes;
  events::note_file_change(device_, inode_, part.begin, end);
}

SysResult FileWrite::finish(SysResult r) {
  if (events::recording()) note_changes(r);
  // Such a write goes through where the guest itself may not write.
  if (own_begin_ < own_end_ && translate::has_code(own_begin_, own_end_))
    translate::invalidate(turn_, own_begin_, own_end_);
  if (!mapped_) return r;
  struct Drop {
    Turn& turn;
    Search file;
  } drop{turn_, {device_, inode_, false}};
  memory::for_each(
      [](const memory::Mapping& mapping, const char*, void* to) {
        auto* d = static_cast<Drop*>(to);
        if (!is_code_of(mapping, d->file) || !translate::has_code(mapping.begin, mapping.end)) return;
        translate::invalidate(d->turn, mapping.begin, mapping.end);
      },
      &drop);
  return r;
}

}  // namespace detrec::guest::syscall
