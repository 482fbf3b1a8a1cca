#include "trace/guest/load/image_file.h"

#include <asm/errno.h>
#include <linux/fcntl.h>

#include "trace/guest/base/arena.h"
#include "trace/guest/base/print.h"
#include "trace/guest/base/string.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/load/file_status.h"

namespace detrec::guest::load {
namespace {

u64 at(i32 dirfd) { return static_cast<u64>(static_cast<i64>(dirfd)); }

/// Reads exactly n bytes; false at the end of the file.
bool read_at(i32 fd, void* to, u64 n, u64 offset) {
  u8* out = static_cast<u8*>(to);
  while (n > 0) {
    SysResult r = raw_syscall(__NR_pread64, static_cast<u64>(fd), arg(out), n, offset);
    if (r == -EINTR) continue;
    if (failed(r) || r == 0) return false;
    out += r;
    offset += static_cast<u64>(r);
    n -= static_cast<u64>(r);
  }
  return true;
}

/// Asks the kernel whether it would open the file for execution: it does so before it looks at the arguments,
/// whose address here is none. 0 or -errno (no permission, mounted noexec, open for writing, not a regular
/// file, ...).
SysResult check_access(i32 dirfd, const char* path, u64 flags) {
  constexpr u64 kNoAddress = ~0ull - 4095;
  SysResult r = raw_syscall(__NR_execveat, at(dirfd), arg(path), kNoAddress, kNoAddress, flags);
  if (r == -ENOSYS || r == -EPERM) {  // a sandbox without this call
    constexpr u64 kExecuteOk = 1;
    return *path == 0 ? 0 : raw_syscall(__NR_faccessat, at(dirfd), arg(path), kExecuteOk);
  }
  return r == -EFAULT ? 0 : r;
}

SysResult errno_of(ElfError error) { return error == ElfError::kNone ? 0 : -ENOEXEC; }

/// Reads and checks the headers of an open file. 0, or -ENOEXEC with `error` set.
SysResult read_headers(ImageFile& file, const u8* head, u64 n, ElfError& error) {
  error = parse_header(head, n, file.header);
  if (error != ElfError::kNone) return errno_of(error);
  u64 bytes = file.header.phnum * 56ull;
  auto* phdrs = static_cast<u8*>(engine_reserve(kProgramHeaderBytes));
  if (read_at(file.fd, phdrs, bytes, file.header.phoff)) {
    error = parse_program_headers(file.header, phdrs, file.size, file.image);
  } else {
    error = ElfError::kBroken;
  }
  engine_release(phdrs, kProgramHeaderBytes);
  return errno_of(error);
}

bool refuse(Refusal& why, SysResult code, ImageFile& file, const char* name) {
  why.code = code;
  why.machine = file.header.machine;
  why.bits32 = file.header.bits32;
  copy_string(why.path, name, sizeof why.path);
  close_file(file);
  return false;
}

/// PT_INTERP's path. False when it is not one.
bool read_linker_path(const ImageFile& program, char (&path)[4096]) {
  path[0] = 0;
  u64 bytes = program.image.interpreter_bytes;
  if (bytes == 0) return true;
  return read_at(program.fd, path, bytes, program.image.interpreter_offset) && path[bytes - 1] == 0;
}

}  // namespace

void close_file(ImageFile& file) {
  if (file.fd >= 0) raw_syscall(__NR_close, static_cast<u64>(file.fd));
  file.fd = -1;
}

SysResult open_executable(i32 dirfd, const char* path, u32 flags, i32& fd, u64& size, bool& unreadable) {
  unreadable = false;
  u64 follow = flags & (AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW);
  struct stat st;
  SysResult r = raw_syscall(__NR_newfstatat, at(dirfd), arg(path), arg(&st), follow);
  if (failed(r)) return r;
  r = check_access(dirfd, path, follow);
  if (failed(r)) return r;
  if (!is_regular(st)) return -EACCES;
  char by_descriptor[32];
  if (*path == 0) {
    format(by_descriptor, sizeof by_descriptor, "/proc/thread-self/fd/%d", dirfd);
    path = by_descriptor;
  }
  r = raw_syscall(__NR_openat, at(dirfd), arg(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (failed(r)) {
    unreadable = r == -EACCES;
    return r;
  }
  fd = static_cast<i32>(r);
  size = static_cast<u64>(st.st_size);
  return 0;
}

bool resolve(i32 dirfd, const char* path, u32 flags, Resolved& out, Refusal& why) {
  out.program.fd = out.linker.fd = -1;
  out.linker_path[0] = 0;
  out.script_count = 0;
  why.code = 0;
  why.elf = ElfError::kNone;
  why.linker_missing = why.unreadable = false;
  u8 head[kScriptHead];
  for (;;) {
    ImageFile& file = out.program;
    file.header = {};
    SysResult r = open_executable(dirfd, path, flags, file.fd, file.size, why.unreadable);
    if (failed(r)) {
      why.linker_missing = out.script_count > 0;
      return refuse(why, r, file, path);
    }
    u64 n = file.size < sizeof head ? file.size : sizeof head;
    if (!read_at(file.fd, head, n, 0)) return refuse(why, -EIO, file, path);
    if (out.script_count == kScriptDepth) {
      if (n >= 2 && head[0] == '#' && head[1] == '!') return refuse(why, -ELOOP, file, path);
      r = read_headers(file, head, n, why.elf);
      if (failed(r)) return refuse(why, r, file, path);
      break;
    }
    ScriptLine& line = out.scripts[out.script_count];
    ScriptKind kind = parse_script(head, n, line);
    if (kind == ScriptKind::kBroken) {
      why.elf = ElfError::kNotElf;
      return refuse(why, -ENOEXEC, file, path);
    }
    if (kind == ScriptKind::kNone) {
      r = read_headers(file, head, n, why.elf);
      if (failed(r)) return refuse(why, r, file, path);
      break;
    }
    ++out.script_count;
    close_file(file);
    dirfd = AT_FDCWD;
    flags = 0;
    path = line.interpreter;
  }

  if (read_linker_path(out.program, out.linker_path)) return true;
  why.elf = ElfError::kBroken;
  return refuse(why, -ENOEXEC, out.program, path);
}

bool open_linker(Resolved& out, Refusal& why) {
  ImageFile& file = out.linker;
  file.header = {};
  SysResult r = open_executable(AT_FDCWD, out.linker_path, 0, file.fd, file.size, why.unreadable);
  if (failed(r)) {
    why.linker_missing = true;
    return refuse(why, r, file, out.linker_path);
  }
  u8 head[kScriptHead];
  u64 n = file.size < sizeof head ? file.size : sizeof head;
  r = read_at(file.fd, head, n, 0) ? read_headers(file, head, n, why.elf) : -EIO;
  return !failed(r) || refuse(why, -ELIBBAD, file, out.linker_path);
}

void describe(const Refusal& why, char* to, u64 size) {
  const char* p = why.path;
  if (why.linker_missing && why.code == -ENOENT) {
    format(to, size, "cannot run it: its interpreter %s does not exist", p);
  } else if (why.unreadable) {
    format(to, size, "cannot run %s: it may be executed but not read, and detrec must read it", p);
  } else if (why.elf == ElfError::kOtherMachine) {
    const char* machine = machine_name(why.machine, why.bits32);
    if (machine != nullptr) {
      format(to, size, "cannot run %s: it is a program for %s, not for x86-64", p, machine);
    } else {
      format(to, size, "cannot run %s: it is a program for machine %u, not for x86-64", p, why.machine);
    }
  } else if (why.elf == ElfError::kNotElf) {
    format(to, size, "cannot execute %s: not an x86-64 ELF file and no #! script", p);
  } else if (why.elf == ElfError::kNotExecutable) {
    format(to, size, "cannot execute %s: an ELF file, but not an executable", p);
  } else if (why.elf == ElfError::kBroken) {
    format(to, size, "cannot execute %s: its ELF headers are broken", p);
  } else if (why.elf == ElfError::kNothingToLoad) {
    format(to, size, "cannot execute %s: an ELF file with nothing to load", p);
  } else {
    const char* reason = nullptr;
    switch (why.code) {
      case -ENOENT:
        reason = "no such file";
        break;
      case -EACCES:
        reason = "permission denied";
        break;
      case -EPERM:
        reason = "not permitted";
        break;
      case -ENOTDIR:
        reason = "not a directory";
        break;
      case -ELOOP:
        reason = "too many levels of symbolic links or interpreters";
        break;
      case -ENAMETOOLONG:
        reason = "file name too long";
        break;
      case -EISDIR:
        reason = "is a directory";
        break;
      case -EMFILE:
        reason = "too many open files";
        break;
      case -ETXTBSY:
        reason = "it is open for writing";
        break;
      case -EIO:
        reason = "it cannot be read";
        break;
      default:
        break;
    }
    if (reason != nullptr) {
      format(to, size, "cannot run %s: %s", p, reason);
    } else {
      format(to, size, "cannot run %s: error %ld", p, -why.code);
    }
  }
}

}  // namespace detrec::guest::load
