// The engine's start: from the kernel's initial stack to the guest's first instruction.
#include "trace/guest/base/print.h"
#include "trace/guest/base/string.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/debug/debugger.h"
#include "trace/guest/events/mode.h"
#include "trace/guest/events/ring.h"
#include "trace/guest/events/sandbox.h"
#include "trace/guest/events/snapshot.h"
#include "trace/guest/load/loader.h"
#include "trace/guest/memory/guest_map.h"
#include "trace/guest/process.h"
#include "trace/guest/run/dispatch.h"
#include "trace/guest/run/stops.h"
#include "trace/guest/run/threads.h"
#include "trace/guest/signal/signals.h"
#include "trace/guest/syscall/syscalls.h"
#include "trace/guest/translate/translator.h"
#include "trace/wire/version.h"

namespace detrec::guest {
namespace {

constexpr int kOwnFailure = 125;

[[noreturn]] void leave(int status) {
  raw_syscall(__NR_exit_group, static_cast<u64>(status));
  __builtin_unreachable();
}

i32 parse_number(const char*& s) {
  if (*s < '0' || *s > '9') return -1;
  i32 n = 0;
  for (; *s >= '0' && *s <= '9'; ++s) n = n * 10 + (*s - '0');
  return n;
}

void map_context() {
  constexpr u64 kReadWrite = 3, kPrivateAnonymousFixedNoReplace = 0x2 | 0x20 | 0x10'0000;
  SysResult r = raw_syscall(__NR_mmap, kContextAddress, kPageSize, kReadWrite,
                            kPrivateAnonymousFixedNoReplace, ~0ull, 0);
  if (failed(r) || static_cast<u64>(r) != kContextAddress) {
    warn("cannot map the engine's context page: error %ld", -r);
    leave(kOwnFailure);
  }
}

/// Maps the page shared with the frontend.
void map_launch(const char* fds) {
  i32 fd = parse_number(fds);
  constexpr u64 kReadWrite = 3, kShared = 1;
  constexpr u64 kAt = kContextAddress + 16 * kPageSize;
  u64 size = page_up(sizeof(wire::Launch));
  SysResult r = raw_syscall(__NR_mmap, kAt, size, kReadWrite, kShared | 0x10'0000, static_cast<u64>(fd), 0);
  auto* launch = reinterpret_cast<wire::Launch*>(kAt);
  if (failed(r) || launch->magic != wire::kLaunchMagic) {
    warn("detrec-guest is started by detrec, not by hand");
    leave(kOwnFailure);
  }
  if (launch->version != wire::kWireVersion) {
    warn("detrec and detrec-guest are of different builds (versions %x and %x): install both together",
         launch->version, wire::kWireVersion);
    leave(kOwnFailure);
  }
  Process& p = process();
  p.launch = launch;
  p.own_fds[kLaunchFd] = fd;
  p.own_fds[kImageFd] = launch->engine_fd;
  p.own_fds[kControlFd] = *fds == ':' ? parse_number(++fds) : -1;
  p.pid = static_cast<i32>(raw_syscall(__NR_getpid));
  p.first = launch->first_pid == 0 || launch->first_pid == p.pid;
  if (launch->first_pid == 0) launch->first_pid = p.pid;
}

[[noreturn]] void fail_launch(const load::LoadFailure& failure) {
  if (process().first && process().launch->phase == wire::LaunchPhase::kStarting) {
    copy_string(process().launch->message, failure.message, sizeof process().launch->message);
    process().launch->failure_status = failure.status;
    process().launch->phase = wire::LaunchPhase::kFailed;
  } else {
    warn("%s", failure.message);
  }
  leave(failure.status);
}

}  // namespace

extern "C" [[noreturn]] void engine_main(u64* stack) {
  auto argc = static_cast<i64>(stack[0]);
  char** argv = reinterpret_cast<char**>(stack + 1);
  char** envp = argv + argc + 1;
  u64* auxv = reinterpret_cast<u64*>(envp);
  while (*auxv != 0) ++auxv;
  ++auxv;
  if (argc < 4) {
    warn("detrec-guest is started by detrec, not by hand");
    leave(kOwnFailure);
  }
  map_context();
  map_launch(argv[1]);
  if (process().first) events::start_ring(*process().launch, process().own_fds[kLaunchFd]);
  if (events::replaying()) debug::start(*process().launch, process().own_fds[kLaunchFd]);
  context().no_quick_calls = debug::attached ? 1 : 0;
  load::LoadFailure failure{kOwnFailure, {}};
  if (!memory::start(auxv, failure.message, sizeof failure.message)) fail_launch(failure);
  translate::start();
  Turn turn = TurnSchedule::acquire(run::create_first_thread());
  syscall::start(turn);
  signal::start(turn);
  const load::Program program{argv[2], argv + 3, envp, auxv};
  if (events::replaying()) {
    events::start_sandbox();
    events::replay_start(turn);
  } else if (!load::load_program(turn, program, failure)) {
    fail_launch(failure);
  }
  run::start_stops(turn);
  events::record_start(turn, program);
  if (process().first) process().launch->phase = wire::LaunchPhase::kRunning;
  run::enter_guest(turn);
}

}  // namespace detrec::guest
