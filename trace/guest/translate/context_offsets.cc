#include "trace/guest/translate/context_offsets.h"

#include "trace/guest/run/thread.h"
#include "trace/guest/translate/block_index.h"

namespace detrec::guest {
static_assert(CTX == kContextAddress);
static_assert(CTX_SPILL_RCX - CTX == offsetof(Context, spill_rcx));
static_assert(CTX_EXIT_ARG - CTX == offsetof(Context, exit_arg));
static_assert(CTX_EXIT_KIND - CTX == offsetof(Context, exit_kind));
static_assert(CTX_RESUME - CTX == offsetof(Context, resume));
static_assert(CTX_ENGINE_RSP - CTX == offsetof(Context, engine_rsp));
static_assert(CTX_GPR - CTX == offsetof(Context, regs.gpr));
static_assert(CTX_RFLAGS - CTX == offsetof(Context, regs.rflags));
static_assert(CTX_PC - CTX == offsetof(Context, regs.pc));
static_assert(CTX_IN_GUEST - CTX == offsetof(Context, in_guest));
static_assert(CTX_THREAD - CTX == offsetof(Context, thread));
static_assert(CTX_SITES - CTX == offsetof(Context, sites));
static_assert(CTX_NO_QUICK_CALLS - CTX == offsetof(Context, no_quick_calls));
static_assert(THREAD_TID == offsetof(Thread, tid));
static_assert(THREAD_PID == offsetof(Thread, pid));
static_assert(SITE_PC == offsetof(translate::Site, pc));
static_assert(SITE_CACHE == offsetof(translate::Site, cache));
static_assert(sizeof(translate::Site) == 24);
}  // namespace detrec::guest
