// One line a peculiarity and process tree: what was already said is remembered behind the launch page's
// fields.
#pragma once

#include "trace/guest/base/types.h"

namespace detrec::guest::syscall {

/// Things that are said at most once.
enum class Notice : u32 {
  kUnknownSyscall = 0,  ///< number without a row; the first such
  kSetUid,              ///< a set-user-ID program runs without its privileges
  kSharedAddressSpace,  ///< clone(CLONE_VM) of an unusual kind
  kSeccomp,
};

/// True the first time in the process tree that it is called with this.
bool first_time(Notice notice);
/// The same, per system call number.
bool first_time_for_syscall(u32 nr);

}  // namespace detrec::guest::syscall
