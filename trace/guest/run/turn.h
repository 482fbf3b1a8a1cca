// The turn: the right to run guest code and to change guest-visible state. One per address space for now.
#pragma once

#include "trace/guest/run/thread.h"

namespace detrec::guest {

/// Proof that the calling kernel thread holds the turn. Functions that need it take a Turn&; nobody else
/// constructs one.
class Turn {
 public:
  Thread& thread() { return *context().thread; }
  Registers& regs() { return context().regs; }
  u64& gpr(Reg r) { return context().regs.gpr[r]; }

  // System call arguments in the kernel's order: rdi, rsi, rdx, r10, r8, r9.
  u64 arg(int i) {
    static constexpr Reg kOrder[6] = {kRdi, kRsi, kRdx, kR10, kR8, kR9};
    return gpr(kOrder[i]);
  }
  void set_result(SysResult r) { gpr(kRax) = static_cast<u64>(r); }

  /// Ticks used by the running thread so far.
  u64 ticks() const;

 private:
  friend class TurnSchedule;
  Turn() = default;
};

namespace run {
struct FutexSleep;  // run/granted_turns.h
}

/// Why a thread gives up its turn.
enum class TurnWhy : u32 {
  kOutside,  ///< to wait for something that is not another guest thread's to give
  kSlice,    ///< others want to run too
  kYield,    ///< sched_yield
  kCreated,  ///< it has created a thread
  kEnds,     ///< for ever
};

/// Who runs. Two mechanisms decide about the next: the server, once a recorded process has a second thread
/// (run/granted_turns.h); else the line (run/first_come.h). A replay switches as its events say
/// (run/replayed_turns.h).
class TurnSchedule {
 public:
  /// The turn that the calling thread already holds: for entries from generated code.
  static Turn held() { return Turn(); }
  /// Blocks until `thread` has the turn, then loads its state into the context page.
  static Turn acquire(Thread& thread);
  /// Saves the context page into the thread and hands the turn on. kOutside, kEnds; for the others there is
  /// pass().
  static void release(Turn& turn, TurnWhy why = TurnWhy::kOutside);
  /// Gives the turn up and gets it back, at once when nobody else is to have it.
  static void pass(Turn& turn, TurnWhy why);
  /// Where the server grants turns: gives this one up until another thread wakes the running one at a futex.
  /// Results as of run::sleep_at_futex.
  static SysResult sleep_at_futex(Turn& turn, const run::FutexSleep& sleep);
  /// True when another thread waits for the turn.
  static bool contended();
  /// In a forked child: the caller is the only thread and holds the turn.
  static void reset_after_fork();
};

/// Lends the turn out for the duration of a scope: around a system call that may block. Context and registers
/// must not be touched inside; the guest's memory may be written by the kernel only into bounce buffers.
class TurnLent {
 public:
  explicit TurnLent(Turn& turn) : turn_(turn), thread_(turn.thread()) { TurnSchedule::release(turn_); }
  ~TurnLent() { turn_ = TurnSchedule::acquire(thread_); }
  TurnLent(const TurnLent&) = delete;
  TurnLent& operator=(const TurnLent&) = delete;

 private:
  Turn& turn_;
  Thread& thread_;
};

}  // namespace detrec::guest
