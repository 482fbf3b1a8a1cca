// Reads guest code for decoding: page by page, checked against the guest's permissions, never faulting.
#pragma once

#include "trace/guest/decode/insn.h"
#include "trace/guest/run/turn.h"

namespace detrec::guest::translate {

/// Why there is no instruction at a pc.
struct FetchFault {
  int signo = 0;    ///< SIGSEGV or SIGBUS (page missing), SIGILL (invalid), 0 none
  int code = 0;     ///< si_code
  u64 address = 0;  ///< si_addr
  u64 trapno = 0;   ///< as uc_mcontext shows it
  u64 error = 0;
};

/// A window over guest code.
class CodeReader {
 public:
  /// Fills the window at pc; at most kWindow bytes, ending where executable memory ends.
  explicit CodeReader(GuestAddr pc) { refill(pc); }

  /// Decodes at pc, refilling the window when needed. kOk, or the fault that executing there raises.
  bool decode_at(GuestAddr pc, Insn& insn, FetchFault& fault);

  const u8* bytes_at(GuestAddr pc) const { return window_ + (pc - begin_); }

 private:
  static constexpr u64 kWindow = 512;
  void refill(GuestAddr pc);

  GuestAddr begin_ = 0;
  u64 size_ = 0;
  u8 window_[kWindow];
};

/// Whether the five status flags other than CF are overwritten before they are read on the straight path from
/// pc (so that `dec` may clobber them). Gives up, answering no, at indirect transfers, after some
/// instructions, and where other code than `site_page`'s could change under it (writable or anonymous memory
/// of another page).
bool status_flags_dead(GuestAddr pc, GuestAddr site_page);

/// Which of those five flags are dead at pc; a stop shows them as zero so that positions are repeatable.
u32 dead_status_flags(GuestAddr pc);

}  // namespace detrec::guest::translate
