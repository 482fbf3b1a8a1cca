// Loads a program image the way execve(2) does, and builds the initial stack.
#pragma once

#include "trace/guest/run/turn.h"

namespace detrec::guest::load {

/// What main() knows about the program to start. Strings live on the kernel-built stack, which stays mapped.
struct Program {
  const char* path;  ///< as given to execve; relative to the current directory
  char* const* argv;
  char* const* envp;
  const u64*
      kernel_auxv;  ///< pairs, ends with AT_NULL: AT_UID..AT_SECURE, AT_CLKTCK, AT_HWCAP ... are taken over
};

struct LoadFailure {
  int status;         ///< 126 or 127 (docs/cli.md)
  char message[256];  ///< one line for the user, no newline
};

/// Maps program and interpreter (PT_INTERP; `#!` lines nested up to the kernel's depth), sets up stack, brk
/// and registers (context().regs: pc = entry, rsp, everything else 0, rflags 0x202). False with `failure`
/// filled in when it cannot be run.
bool load_program(Turn& turn, const Program& program, LoadFailure& failure);

/// Whether execve(path) would work, without touching anything: 0, or the -errno the kernel would give
/// (ENOENT, EACCES, ENOEXEC, ...). `dirfd`/`flags` as in execveat(2). i386 and other machines: -ENOEXEC, with
/// a warning line.
SysResult check_executable(i32 dirfd, const char* path, u32 flags);

/// What /proc/self shows of the loaded program.
const char* executable_path();         ///< absolute, symbolic links resolved: readlink /proc/self/exe
const u64* guest_auxv(u64* bytes);     ///< content of /proc/self/auxv
const char* command_line(u64* bytes);  ///< content of /proc/self/cmdline (NUL separated)

}  // namespace detrec::guest::load
