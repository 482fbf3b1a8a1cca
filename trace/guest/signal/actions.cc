#include "trace/guest/signal/actions.h"

#include "trace/guest/base/arena.h"
#include "trace/guest/base/print.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/events/mode.h"
#include "trace/guest/process.h"
#include "trace/guest/signal/host_handler.h"

namespace detrec::guest::signal {
namespace {

/// Every process that shares the address space has one: this one, and vfork children for a moment.
constexpr u64 kTables = 4096;
StableArray<Actions> tables;

void mark_used() {
  for (Actions& table : tables) table.used = false;
  for (const Thread* thread = process().threads; thread != nullptr; thread = thread->next) {
    if (thread->signals.actions != nullptr) thread->signals.actions->used = true;
  }
}

Actions& new_table() {
  if (tables.capacity() == 0) tables.reserve(kTables);
  mark_used();
  for (Actions& table : tables) {
    if (table.used) continue;
    table = Actions{};
    return table;
  }
  DETREC_CHECK(!tables.full());
  return tables.push(Actions{});
}

void kernel_action(int signo, const Action* action, Action* old) {
  SysResult r =
      raw_syscall(__NR_rt_sigaction, static_cast<u64>(signo), arg(action), arg(old), sizeof(SignalSet));
  if (failed(r)) DETREC_PANIC("the kernel refuses an action for signal %d: error %ld", signo, -r);
}

}  // namespace

Action host_action(const Action& action, int signo) {
  bool fault = kFaults & bit(signo);
  Action host;
  host.flags = (action.flags & (kSaNoCldStop | kSaNoCldWait)) | kSaSigInfo | kSaOnStack | kSaRestorer;
  host.restorer = arg(&detrec_signal_return);
  if (!fault && (action.handler == kDefault || action.handler == kIgnored)) {
    host.handler = action.handler;
    return host;
  }
  host.handler = arg(&detrec_host_handler);
  // Restarting shows which calls the kernel restarts: interruptible.S. Faults may come inside the handler:
  // probes.
  host.flags |= kSaRestart | kSaNoDefer;
  host.mask = ~kFaults;
  return host;
}

Actions& inherit_actions() {
  Actions& actions = new_table();
  for (int signo = 1; signo <= kSignals; ++signo) {
    if (kUnblockable & bit(signo)) continue;
    kernel_action(signo, nullptr, &actions[signo]);
    if (actions[signo].handler != kIgnored) actions[signo] = Action{};
    if (kFaults & bit(signo)) install(signo, actions[signo]);
  }
  return actions;
}

Actions& copy_actions(const Actions& from) {
  Actions& table = new_table();
  for (int i = 0; i < kSignals; ++i) table.action[i] = from.action[i];
  return table;
}

void install(int signo, const Action& action) {
  // In a replay the kernel sends faults only.
  if (events::replaying() && !(kFaults & bit(signo))) return;
  Action host = host_action(action, signo);
  kernel_action(signo, &host, nullptr);
}

void install_plain(int signo, u64 handler) {
  Action plain;
  plain.handler = handler;
  plain.flags = kSaRestorer;
  plain.restorer = arg(&detrec_signal_return);
  kernel_action(signo, &plain, nullptr);
}

}  // namespace detrec::guest::signal
