// What the launch page says of the ticks of the first process. Nothing here counts threads of other
// processes.
#pragma once

#include "trace/guest/process.h"
#include "trace/guest/run/turn.h"

namespace detrec::guest::run {

/// What the threads of the process have used so far, those that have ended and the images before this one
/// included.
u64 total_ticks(Turn& turn);

/// The running thread ends; with the last thread of the first process its total is final.
void account_thread(Turn& turn);

/// The running thread's process ends, now.
void account_process(Turn& turn);

/// The running thread's process executes another program: what it has used stays counted. `before` undoes it.
struct ExecAccount {
  u64 before = 0;
};
ExecAccount account_exec(Turn& turn);
void cancel_exec_account(Turn& turn, const ExecAccount& account);

/// Around a call that may end the process by a signal's default action, of which the engine hears nothing:
/// the total is in place meanwhile. The turn must not be lent, unless there is no other thread.
class AccountedMeanwhile {
 public:
  explicit AccountedMeanwhile(Turn& turn);
  ~AccountedMeanwhile() {
    if (counted_) process().launch->ticks = 0;
  }
  AccountedMeanwhile(const AccountedMeanwhile&) = delete;
  AccountedMeanwhile& operator=(const AccountedMeanwhile&) = delete;

 private:
  bool counted_;
};

}  // namespace detrec::guest::run
