// What is known of descriptor numbers, to spare asking the kernel at every call: dropped when a number gets
// another meaning.
//
// Every close and every replacement of a descriptor by this process comes through syscall/. A vfork child has
// descriptors of its own but shares this memory: for it nothing is noted.
#pragma once

#include "trace/guest/run/turn.h"

namespace detrec::guest::syscall {

enum class FdNote : u8 {
  kNoCode,      ///< writing to it changes no code of the guest's; while recording, no mapping at all
  kNeverWaits,  ///< regular files, folders and block devices: reading and writing waits for a device at most
  kMayWait,     ///< everything else
  kStdout,      ///< leads where stdout led when the program started (events/outputs.cc)
  kStderr,      ///< the same for stderr
  kNoOutput,    ///< neither
};
inline constexpr int kFdNotes = 6;

bool has_note(Turn& turn, u64 fd, FdNote note);
void add_note(Turn& turn, u64 fd, FdNote note);

/// A descriptor number has got another meaning, or none.
void forget_fd(u64 fd);
void forget_fds(u64 first, u64 last);
/// A file may have become code, or memory.
void forget_all_fds();

/// True for a descriptor of FdNote::kNeverWaits, and for one that is not open.
bool never_waits(Turn& turn, u64 fd);

}  // namespace detrec::guest::syscall
