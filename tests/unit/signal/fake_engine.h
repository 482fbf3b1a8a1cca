// As much of an engine as signal/ needs: a context page, one thread with the turn, guest memory that is the
// test's own.
#pragma once

#include <functional>

#include "trace/guest/run/dispatch.h"
#include "trace/guest/signal/actions.h"
#include "trace/guest/signal/signals.h"

namespace detrec::guest::test {

/// What the folder asked of run/, and what that answers.
struct FakeRun {
  int exits_requested = 0;
  u64 fault_address = 0;
  bool fault_was_write = false;
  run::FaultAction answer = run::FaultAction::kDeliver;
};
FakeRun& fake_run();

/// The thread that holds the turn, started as the engine starts its first one.
class FakeEngine {
 public:
  FakeEngine();
  Turn& turn() { return turn_; }
  Thread& thread() { return thread_; }
  Registers& regs() { return context().regs; }
  SignalState& state() { return thread_.signals; }

  /// The guest's sigaction(2), with a restorer.
  SysResult set_action(int signo, u64 handler, u64 flags = 0, signal::SignalSet mask = 0);
  SysResult set_mask(signal::SignalSet mask);
  /// What the dispatch loop does after system call `nr` gave `result`.
  void finish_syscall(long nr, SysResult result);
  /// As the guest's handler does at its end: `ret` to the restorer, and its system call.
  void return_from_handler();

  static constexpr u64 kHandler = 0x123'4000, kRestorer = 0x567'8000, kPc = 0x999'9000;

 private:
  Thread thread_;
  Turn turn_ = TurnSchedule::held();
};

/// Runs generated code at kCacheBegin on a stack of its own until the host handler sends it to
/// run::fault_entry.
void run_in_cache(const u8* code, u64 size);

/// Runs `body` in a child process; its expectations count here. Returns the wait status, 0 when all went
/// well.
int in_child(const std::function<void()>& body);

}  // namespace detrec::guest::test

#define EXPECT_IN_CHILD(...) EXPECT_EQ(::detrec::guest::test::in_child(__VA_ARGS__), 0)
