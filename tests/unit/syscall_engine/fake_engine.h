// What the tested files need of the rest of the engine, in a hosted process.
#pragma once

#include <functional>
#include <vector>

#include "trace/guest/process.h"
#include "trace/guest/run/threads.h"
#include "trace/guest/run/turn.h"
#include "trace/guest/syscall/handlers.h"

namespace detrec::guest::test {

/// Maps the context page, once.
void map_context();

/// A thread with the turn, alone in the process.
class HeldTurn {
 public:
  HeldTurn();
  ~HeldTurn();
  Turn& turn() { return turn_; }
  void set_args(const syscall::Args& args);

 private:
  run::KernelThread thread_;
  Turn turn_;
};

/// Called by kernel_wait between the kernel's answer and the caller's next step, when set.
extern std::function<void()> after_wait;

/// Ranges of guest memory that write_guest was asked to write.
struct Written {
  GuestAddr begin;
  u64 bytes;
};
extern std::vector<Written> written;

}  // namespace detrec::guest::test
