#include "trace/guest/run/accounts.h"

#include "trace/guest/run/ticks.h"

namespace detrec::guest::run {
namespace {

/// A vfork child lives in the first process's address space and is none of its threads.
bool is_counted(Turn& turn) { return process().first && turn.thread().pid == process().pid; }

u64 ticks_of(Turn& turn, const Thread& thread) {
  return &thread == &turn.thread() ? ticks_used(context()) : thread.saved_tick_base;
}

bool is_last_thread(Turn& turn) {
  for (const Thread* t = process().threads; t != nullptr; t = t->next) {
    if (t->pid == process().pid && t != &turn.thread()) return false;
  }
  return true;
}

}  // namespace

u64 total_ticks(Turn& turn) {
  u64 sum = process().launch->ended_ticks;
  for (const Thread* t = process().threads; t != nullptr; t = t->next) {
    if (t->pid == process().pid) sum += ticks_of(turn, *t);
  }
  return sum;
}

void account_thread(Turn& turn) {
  if (!is_counted(turn)) return;
  wire::Launch& launch = *process().launch;
  launch.ended_ticks += ticks_of(turn, turn.thread());
  if (is_last_thread(turn)) launch.ticks = launch.ended_ticks;
}

void account_process(Turn& turn) {
  if (is_counted(turn)) process().launch->ticks = total_ticks(turn);
}

ExecAccount account_exec(Turn& turn) {
  if (!is_counted(turn)) return {};
  wire::Launch& launch = *process().launch;
  ExecAccount account{launch.ended_ticks};
  launch.ended_ticks = total_ticks(turn);
  return account;
}

void cancel_exec_account(Turn& turn, const ExecAccount& account) {
  if (is_counted(turn)) process().launch->ended_ticks = account.before;
}

AccountedMeanwhile::AccountedMeanwhile(Turn& turn) : counted_(is_counted(turn)) {
  if (counted_) process().launch->ticks = total_ticks(turn);
}

}  // namespace detrec::guest::run
