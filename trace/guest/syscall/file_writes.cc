#include "trace/guest/syscall/file_writes.h"

#include <asm/errno.h>
#include <asm/stat.h>
#include <asm/statfs.h>
#include <asm/unistd_64.h>
#include <linux/magic.h>

#include "trace/guest/base/print.h"
#include "trace/guest/base/string.h"
#include "trace/guest/base/syscall.h"
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

/// Whether a mapping of the file is executable.
bool holds_code(u64 device, u64 inode) {
  Search search{device, inode, false};
  memory::for_each(
      [](const memory::Mapping& mapping, const char*, void* to) {
        auto* s = static_cast<Search*>(to);
        s->found |= is_code_of(mapping, *s);
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

SysResult status_of(const SyscallRow& row, const Args& args, struct stat& status) {
  u64 file = args[row.file_arg];
  bool by_path = row.args[row.file_arg].kind == syscalls::ArgKind::kPath;
  return raw_syscall(by_path ? __NR_stat : __NR_fstat, file, arg(&status));
}

}  // namespace

FileWrite::FileWrite(Turn& turn, const SyscallRow& row, const Args& args) : turn_(turn) {
  u64 fd = static_cast<u32>(args[row.file_arg]);
  bool by_path = row.args[row.file_arg].kind == syscalls::ArgKind::kPath;
  if (!by_path && has_note(turn, fd, FdNote::kNoCode)) return;
  struct stat status;
  if (failed(status_of(row, args, status))) return;
  bool regular = (status.st_mode & kTypeMask) == kRegularFile;
  if (!by_path && regular && is_process_memory(fd)) {
    Span span = span_of(row, args);
    GuestAddr end = span.begin + span.bytes;
    if (end < span.begin || end > kUserEnd) return;  // the kernel refuses it
    if (span.bytes != 0 && memory::touches_engine(span.begin, end)) refused_ = error(EIO);
    own_begin_ = page_down(span.begin);
    own_end_ = page_up(end);
    return;
  }
  mapped_ = regular && holds_code(status.st_dev, status.st_ino);
  device_ = status.st_dev;
  inode_ = status.st_ino;
  if (!mapped_ && !by_path) add_note(turn, fd, FdNote::kNoCode);
}

SysResult FileWrite::finish(SysResult r) {
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
