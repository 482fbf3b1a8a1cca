// Indirect transfers to code above 4 GiB without the dispatch loop: just-in-time compilers and interpreters
// that generate their code put it there, and every jump of theirs would be a full exit.
#include "trace/guest/base/probe.h"
#include "trace/guest/run/stops.h"
#include "trace/guest/translate/block_index.h"
#include "trace/guest/translate/translator.h"

namespace detrec::guest::run {

/// Serves the exit of Context::exit_kind (kIndirectJmp, kIndirectCall or kRet) when its target has an entry
/// already: sets Context::resume and the guest's rsp, and returns 1. Else changes nothing and returns 0.
/// Called by exits.S on the engine stack.
extern "C" u32 quick_indirect() {
  Context& c = context();
  if (stepping()) return 0;
  const translate::Site& site = translate::block_index().site(c.exit_arg);
  u64& rsp = c.regs.gpr[kRsp];
  GuestAddr target = c.target;
  if (c.exit_kind == ExitKind::kRet && !read_guest(target, rsp)) return 0;
  CacheAddr entry = translate::high_entry_of(target);
  if (entry == CacheAddr::kNone) return 0;
  if (c.exit_kind == ExitKind::kRet) {
    rsp += 8 + site.stub;
  } else if (c.exit_kind == ExitKind::kIndirectCall) {
    // A stack that cannot be written, or holds translated code, is left to the common way.
    if (probe_word(reinterpret_cast<void*>(rsp - 8), &site.pc) != 0) return 0;
    rsp -= 8;
  }
  c.resume = raw(entry);
  return 1;
}

}  // namespace detrec::guest::run
