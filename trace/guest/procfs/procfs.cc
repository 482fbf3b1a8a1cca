#include "trace/guest/procfs/procfs.h"

#include <asm/errno.h>
#include <linux/fcntl.h>

#include "trace/guest/base/arena.h"
#include "trace/guest/base/print.h"
#include "trace/guest/base/probe.h"
#include "trace/guest/base/string.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/load/loaded_program.h"
#include "trace/guest/load/loader.h"
#include "trace/guest/process.h"
#include "trace/guest/procfs/maps_file.h"
#include "trace/guest/procfs/proc_path.h"
#include "trace/guest/procfs/status_files.h"

namespace detrec::guest::procfs {
namespace {

constexpr u64 kPathMax = 4096;

/// Exists nowhere: what calls that follow paths are given for what is hidden.
constexpr char kNowhere[] = "/proc/self/fd/hidden";

u64 at(i32 dirfd) { return static_cast<u64>(static_cast<i64>(dirfd)); }

/// Where a path buffer comes from: one, reserved at the first need, used under the turn.
char* path_buffer() {
  static char* buffer;
  if (buffer == nullptr) buffer = static_cast<char*>(engine_reserve(2 * kPathMax));
  return buffer;
}

/// What the kernel calls descriptor `fd`; false when it is not open.
bool descriptor_path(i32 fd, char* to, u64 size) {
  char link[32];
  format(link, sizeof link, "/proc/thread-self/fd/%d", fd);
  SysResult n = raw_syscall(__NR_readlink, arg(link), arg(to), size - 1);
  if (failed(n)) return false;
  to[n] = 0;
  return true;
}

/// Puts the folder of a relative path before it. `to` has room for twice kPathMax.
bool make_absolute(i32 dirfd, const char* path, char* to) {
  if (dirfd == AT_FDCWD) {
    if (failed(raw_syscall(__NR_getcwd, arg(to), kPathMax - 1))) return false;
  } else if (!descriptor_path(dirfd, to, kPathMax)) {
    return false;
  }
  u64 n = strlen(to);
  if (*path != 0) {
    to[n++] = '/';
    copy_string(to + n, path, kPathMax);
  }
  return true;
}

bool is_own(Turn& turn, i32 id) {
  if (id == 0 || id == turn.thread().pid || id == turn.thread().tid || id == process().pid) return true;
  for (Thread* t = process().threads; t != nullptr; t = t->next)
    if (t->tid == id) return true;
  return false;
}

/// The thread whose signals a path shows: that of task/<tid>, /proc/<tid> or thread-self, else the process's
/// first.
const Thread& thread_of(Turn& turn, const ProcPath& p) {
  if (p.thread) return turn.thread();
  i32 wanted = p.task != 0 ? p.task : p.owner != 0 ? p.owner : turn.thread().pid;
  for (Thread* t = process().threads; t != nullptr; t = t->next)
    if (t->tid == wanted) return *t;
  return turn.thread();
}

/// What the path means, kNone when it is not about this process.
ProcPath recognise(Turn& turn, i32 dirfd, const char* path) {
  if (!may_concern(path)) return {};
  if (path[0] != '/') {
    char* absolute = path_buffer();
    if (!make_absolute(dirfd, path, absolute)) return {};
    path = absolute;
  }
  ProcPath p = parse_proc_path(path);
  if (p.file != ProcFile::kNone && (!is_own(turn, p.owner) || !is_own(turn, p.task)))
    p.file = ProcFile::kNone;
  return p;
}

/// 0 when the kernel has the file, too: /proc may be absent or restricted.
SysResult exists(i32 dirfd, const char* path) {
  SysResult fd = raw_syscall(__NR_openat, at(dirfd), arg(path), O_PATH | O_CLOEXEC);
  if (failed(fd)) return fd;
  raw_syscall(__NR_close, static_cast<u64>(fd));
  return 0;
}

/// A part of the guest's memory, as the kernel shows arguments and environment; ends early where it is not
/// readable.
SysResult write_range(TextFile& to, load::GuestRange range) {
  u8 buffer[1024];
  for (GuestAddr a = range.begin; a < range.end;) {
    u64 n = range.end - a < sizeof buffer ? range.end - a : sizeof buffer;
    u64 copied = n - probe_copy(buffer, reinterpret_cast<const void*>(a), n);
    to.write(buffer, copied);
    if (copied < n) break;
    a += n;
  }
  return 0;
}

/// What a generated file is about: the path that was opened, and the thread that it names.
struct Subject {
  const Thread& thread;
  i32 dirfd;
  const char* path;
};

struct Generated {
  ProcFile file;
  const char* name;
  SysResult (*write)(TextFile&, const Subject&);
};
constexpr Generated kGenerated[] = {
    {ProcFile::kMaps, "maps", [](TextFile& to, const Subject&) { return write_maps(to); }},
    {ProcFile::kSmaps, "smaps", [](TextFile& to, const Subject&) { return write_smaps(to, false); }},
    {ProcFile::kSmapsRollup, "smaps_rollup",
     [](TextFile& to, const Subject&) { return write_smaps(to, true); }},
    {ProcFile::kAuxv, "auxv",
     [](TextFile& to, const Subject&) -> SysResult {
       u64 n = 0;
       const u64* words = load::guest_auxv(&n);
       to.write(words, n);
       return 0;
     }},
    {ProcFile::kCmdline, "cmdline",
     [](TextFile& to, const Subject&) { return write_range(to, load::argument_range()); }},
    {ProcFile::kEnviron, "environ",
     [](TextFile& to, const Subject&) { return write_range(to, load::environment_range()); }},
    {ProcFile::kStat, "stat",
     [](TextFile& to, const Subject& s) { return write_stat(to, s.thread, s.dirfd, s.path); }},
    {ProcFile::kStatus, "status",
     [](TextFile& to, const Subject& s) { return write_status(to, s.thread, s.dirfd, s.path); }},
    {ProcFile::kStatm, "statm",
     [](TextFile& to, const Subject& s) { return write_statm(to, s.thread, s.dirfd, s.path); }},
};

/// "/memfd:detrec:maps (deleted)" as readlink shows one of our files: what it stands for, else nullptr.
const char* generated_name(const char* link, u64 n) {
  constexpr char kShown[] = "/memfd:detrec:";
  constexpr u64 kShownBytes = sizeof kShown - 1;
  if (n <= kShownBytes || memcmp(link, kShown, kShownBytes) != 0) return nullptr;
  for (const Generated& g : kGenerated) {
    u64 length = strlen(g.name);
    if (n > kShownBytes + length && memcmp(link + kShownBytes, g.name, length) == 0 &&
        link[kShownBytes + length] == ' ')
      return g.name;
  }
  return nullptr;
}

u64 copy_out(char* to, u64 size, const char* from, u64 n) {
  if (n > size) n = size;
  memcpy(to, from, n);
  return n;
}

}  // namespace

SysResult open(Turn& turn, i32 dirfd, const char* path, u64 flags, bool& handled) {
  handled = false;
  ProcPath p = recognise(turn, dirfd, path);
  if (p.file == ProcFile::kNone || p.file == ProcFile::kDescriptorFolder) return 0;
  auto answer = [&](SysResult r) {
    handled = true;
    return r;
  };
  if (p.file == ProcFile::kDescriptor) return syscall_hidden_fd(p.descriptor) ? answer(-ENOENT) : 0;
  if (p.file == ProcFile::kNumaMaps) return answer(-ENOENT);  // as kernels without NUMA
  // Exclusive creation, folders and links: the kernel's file has the same answers.
  if ((flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL) || (flags & O_DIRECTORY) != 0) return 0;
  if (p.file == ProcFile::kExe) {
    if ((flags & O_NOFOLLOW) != 0) return 0;
    return answer(raw_syscall(__NR_openat, at(AT_FDCWD), arg(load::executable_path()),
                              flags & ~static_cast<u64>(O_CREAT), 0));
  }
  bool writes = (flags & O_ACCMODE) != O_RDONLY;
  if (p.file == ProcFile::kMem) return 0;  // syscall/file_writes.cc sees to writes
  if (writes || (flags & O_PATH) != 0) return 0;
  SysResult r = exists(dirfd, path);
  if (failed(r)) return answer(r);
  for (const Generated& g : kGenerated) {
    if (g.file != p.file) continue;
    TextFile text(g.name);
    r = g.write(text, {thread_of(turn, p), dirfd, path});
    return answer(failed(r) ? r : text.finish(flags));
  }
  return 0;
}

SysResult readlink(Turn& turn, i32 dirfd, const char* path, char* buffer, u64 size, bool& handled) {
  handled = false;
  ProcPath p = recognise(turn, dirfd, path);
  if (p.file == ProcFile::kExe) {
    SysResult r = raw_syscall(__NR_readlinkat, at(dirfd), arg(path), arg(buffer), size);
    handled = true;
    if (failed(r)) return r;
    const char* target = load::executable_path();
    return static_cast<SysResult>(copy_out(buffer, size, target, strlen(target)));
  }
  if (p.file != ProcFile::kDescriptor) return 0;
  if (syscall_hidden_fd(p.descriptor)) {
    handled = true;
    return -ENOENT;
  }
  if (!p.link || size == 0) return 0;
  char* target = path_buffer();
  SysResult r = raw_syscall(__NR_readlinkat, at(dirfd), arg(path), arg(target), kPathMax - 1);
  handled = true;
  if (failed(r)) return r;
  u64 n = static_cast<u64>(r);
  if (const char* name = generated_name(target, n); name != nullptr) {
    n = format(target, kPathMax, "/proc/%d/%s", turn.thread().pid, name);
  }
  return static_cast<SysResult>(copy_out(buffer, size, target, n));
}

const char* redirect_path(Turn& turn, i32 dirfd, const char* path, bool nofollow) {
  if (*path == 0) return path;  // about the descriptor itself
  ProcPath p = recognise(turn, dirfd, path);
  switch (p.file) {
    case ProcFile::kExe:
      return nofollow ? path : load::executable_path();
    case ProcFile::kDescriptor:
      return syscall_hidden_fd(p.descriptor) ? kNowhere : path;
    case ProcFile::kNumaMaps:
      return kNowhere;
    default:
      return path;
  }
}

bool is_fd_directory(Turn& turn, i32 fd) {
  char path[128];
  if (!descriptor_path(fd, path, sizeof path) || !starts_with(path, "/proc/")) return false;
  ProcPath p = parse_proc_path(path);
  return p.file == ProcFile::kDescriptorFolder && is_own(turn, p.owner) && is_own(turn, p.task);
}

}  // namespace detrec::guest::procfs
