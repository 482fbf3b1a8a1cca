// Reads guest code for decoding: page by page, checked against the guest's permissions, never faulting.
#pragma once

#include "trace/guest/decode/insn.h"
#include "trace/guest/run/turn.h"
#include "trace/guest/translate/code_notes.h"

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
  /// Reads windows of `window` bytes (at most kWindow), ending where executable memory ends.
  explicit CodeReader(GuestAddr pc, u64 window = kWindow) : begin_(pc), limit_(window) {}

  /// Decodes at pc, refilling the window when needed. kOk, or the fault that executing there raises.
  bool decode_at(GuestAddr pc, Insn& insn, FetchFault& fault);

  const u8* bytes_at(GuestAddr pc) const { return window_ + (pc - begin_); }
  /// True when bytes_at(pc) are n bytes of what was read last.
  bool has(GuestAddr pc, u64 n) const { return pc >= begin_ && pc + n <= begin_ + size_; }
  /// True when an instruction at pc can be decoded without reading more.
  bool holds(GuestAddr pc) const { return pc >= begin_ && pc + kMaxInsnLength <= begin_ + size_; }

  /// Reads more when needed; false where memory ends within 15 bytes.
  bool ready(GuestAddr pc) {
    if (!holds(pc)) refill(pc);
    return holds(pc);
  }

  static constexpr u64 kWindow = 512;

 private:
  void refill(GuestAddr pc);

  GuestAddr begin_;
  u64 limit_;
  u64 size_ = 0;
  u8 window_[kWindow + 16];  // so that 16 bytes can be copied from any place in it
};

/// `near` is tried first. Whether the five status flags other than CF are overwritten before they are read on
/// the straight path from pc (so that `dec` may clobber them). Gives up, answering no, at indirect transfers,
/// after some instructions, where other code than `site_page`'s could change under it (writable or anonymous
/// memory of another page), and behind a store when the code of `site_page` itself is writable. What a "yes"
/// relies on is added to `read`.
bool status_flags_dead(CodeReader& near, GuestAddr pc, GuestAddr site_page, CodeRead& read);

/// Whether code of the page of `address` is a file's and the guest cannot write it, here or elsewhere: nothing
/// but a system call can change it.
bool is_steady_code(GuestAddr address);

/// Which of those five flags are dead at pc; a stop shows them as zero so that positions are repeatable.
u32 dead_status_flags(GuestAddr pc);

}  // namespace detrec::guest::translate
