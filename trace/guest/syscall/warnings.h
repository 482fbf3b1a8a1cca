// One line a peculiarity and process tree: what was already said is remembered behind the launch page's
// fields.
#pragma once

#include "trace/guest/base/types.h"

namespace detrec::guest::syscall {

/// Things that are said at most once.
enum class Notice : u32 {
  kUnknownSyscall = 0,  ///< number without a row; the first such
  kSetUid,              ///< a set-user-ID program runs without its privileges
  kSeccomp,             ///< a program cannot filter its system calls
  kChildNotRecorded,    ///< recording: a child process was started
  kTooManyThreads,      ///< recording: a thread was refused
};

/// True the first time in the process tree that it is called with this.
bool first_time(Notice notice);
/// The same, per system call number.
bool first_time_for_syscall(u32 nr);
/// The same, per command of a system call; different ones are now and then taken for the same.
bool first_time_for_command(u32 nr, u64 command);

}  // namespace detrec::guest::syscall
