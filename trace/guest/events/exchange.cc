#include "trace/guest/events/exchange.h"

#include "trace/guest/base/string.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/debug/debugger.h"
#include "trace/guest/divert/clocks.h"
#include "trace/guest/divert/diversion.h"
#include "trace/guest/events/child_stores.h"
#include "trace/guest/events/divergence.h"
#include "trace/guest/events/record.h"
#include "trace/guest/process.h"
#include "trace/guest/run/cpu_model.h"
#include "trace/guest/run/register_hash.h"
#include "trace/guest/run/stops.h"
#include "trace/guest/run/ticks.h"

namespace detrec::guest::events {
namespace {

u64 settled_hash(Turn& turn) {
  Registers regs = turn.regs();
  run::settle_flags(regs);
  return run::register_hash(regs);
}

void stop_at_signal(Turn& turn) {
  const auto& body = body_of<wire::SignalBody>(expect_event(turn, wire::EventKind::kSignal));
  SignalInfo info;
  memcpy(&info, body.info, sizeof info);
  debug::at_signal(turn, info);
}

void replay_exit(Turn& turn, wire::ExitCause cause, i32 status) {
  const auto& body = body_of<wire::ExitBody>(expect_event(turn, wire::EventKind::kExit));
  if (body.cause != cause || body.status != status)
    diverge(turn, "the program ends with status %d; recorded: %d", status, body.status);
  if (body.register_hash != 0 && body.register_hash != settled_hash(turn))
    diverge(turn, "registers differ at the end");
  if (debug::attached && cause != wire::ExitCause::kThread) debug::at_end(turn, wire::StopReason::kEnd, "");
  take_event();
  if (cause == wire::ExitCause::kThread) return;
  wire::Launch& launch = *process().launch;
  launch.replayed_end = {cause == wire::ExitCause::kSignal ? 1 : 0, status};
  launch.phase = wire::LaunchPhase::kReplayed;
  raw_syscall(__NR_exit_group, 0);
}

}  // namespace

u64 general_hash(const Registers& regs) {
  u64 hash = 0xcbf2'9ce4'8422'2325ull ^ regs.pc;  // FNV-1a, a word at a time
  for (u64 value : regs.gpr) hash = (hash ^ value) * 0x100'0000'01b3ull;
  return hash != 0 ? hash : 1;
}

void exchange_instruction(Turn& turn, wire::InstructionKind what, u64 (&values)[4]) {
  if (recording()) {
    Record record(turn, wire::EventKind::kInstruction);
    auto& body = record.append<wire::InstructionBody>();
    body.what = what;
    for (int i = 0; i < 4; ++i) body.values[i] = values[i];
    record.commit();
  } else if (diverted) {
    divert::answer_instruction(turn, what, values);
  } else if (replaying()) {
    const auto& body = body_of<wire::InstructionBody>(expect_event(turn, wire::EventKind::kInstruction));
    if (body.what != what) diverge(turn, "another instruction than recorded");
    for (int i = 0; i < 4; ++i) values[i] = body.values[i];
    divert::note_instruction(what, values[0]);
    // Signal frames have what the recorded processor had.
    if (what == wire::InstructionKind::kXgetbv && !run::narrow_guest_xcr0(values[0]))
      diverge(turn, "this processor lacks registers of the recorded one (state components 0x%lx)", values[0]);
    take_event();
  }
}

void exchange_signal(Turn& turn, SignalInfo& info, bool asynchronous) {
  if (recording()) {
    Record record(turn, wire::EventKind::kSignal);
    auto& body = record.append<wire::SignalBody>();
    body.number = info.signo;
    body.asynchronous = asynchronous ? 1 : 0;
    memcpy(body.info, &info, sizeof info);
    body.register_hash = general_hash(turn.regs());
    record.commit();
  } else if (diverted) {
    debug::at_signal(turn, info);
  } else if (replaying()) {
    if (debug::attached) stop_at_signal(turn);
    // Fetched only now: a checkpoint split off meanwhile has another ring.
    const auto& body = body_of<wire::SignalBody>(expect_event(turn, wire::EventKind::kSignal));
    if (asynchronous) {
      memcpy(&info, body.info, sizeof info);
      if (info.signo != body.number || info.signo < 1 || info.signo > 64)
        diverge(turn, "the recorded signal has no number: %d, and %d in its siginfo", body.number,
                info.signo);
    } else if (body.number != info.signo || body.asynchronous != 0 ||
               memcmp(body.info, &info, sizeof info) != 0) {
      diverge(turn, "fault with signal %d; recorded: signal %d, or another cause", info.signo, body.number);
    }
    if (body.register_hash != general_hash(turn.regs())) diverge(turn, "registers differ at a signal");
    take_event();
  }
}

void exchange_exit(Turn& turn, wire::ExitCause cause, i32 status) {
  if (recording()) {
    Record record(turn, wire::EventKind::kExit);
    auto& body = record.append<wire::ExitBody>();
    body.cause = cause;
    body.status = status;
    body.register_hash = settled_hash(turn);
    record.commit();
  } else if (diverted) {
    divert::end(turn, cause == wire::ExitCause::kSignal ? status : 0, status);
  } else if (replaying()) {
    replay_exit(turn, cause, status);
  } else {
    leave_child_stores();
  }
}

void record_exec(Turn& turn) {
  leave_child_stores();
  if (!recording()) return;
  Record record(turn, wire::EventKind::kExit);
  record.append<wire::ExitBody>().cause = wire::ExitCause::kExec;
  record.commit();
}

void exchange_thread(Turn& turn, u32 number, i32& tid, i32& pid) {
  if (recording()) {
    Record record(turn, wire::EventKind::kThread);
    auto& body = record.append<wire::ThreadBody>();
    body.thread = number;
    body.tid = tid;
    body.pid = pid;
    record.commit();
  } else if (replaying()) {
    const auto& body = body_of<wire::ThreadBody>(expect_event(turn, wire::EventKind::kThread));
    if (body.thread != number) diverge(turn, "thread %u is created; recorded: %u", number, body.thread);
    tid = body.tid;
    pid = body.pid;
    take_event();
  }
}

u32 new_thread_number() {
  if (current_mode == wire::ChannelMode::kNone) return 0;  // also in children of a recorded process
  return __atomic_add_fetch(&process().launch->threads, 1, __ATOMIC_RELAXED);
}

void take_back_thread_number(u32 number) {
  if (number != 0) __atomic_store_n(&process().launch->threads, number - 1, __ATOMIC_RELAXED);
}

void record_turn(const Thread& from, const Thread& to, wire::TurnReason reason) {
  if (!recording()) return;
  Record record(wire::EventKind::kTurn, from.number, from.saved_tick_base, from.saved_regs.pc);
  auto& body = record.append<wire::TurnBody>();
  body.to_thread = to.number;
  body.reason = reason;
  if (!from.in_call && !from.ended) body.register_hash = general_hash(from.saved_regs);
  record.commit();
}

}  // namespace detrec::guest::events
