// vCont, bc, bs and the old c s C S.
#include "gdbstub/commands/commands.h"
#include "gdbstub/packet/signal_numbers.h"
#include "gdbstub/packet/thread_id.h"

namespace detrec::gdbstub::commands {

namespace {

/// One action of vCont and whom it is for.
struct Action {
  char kind = 'c';  ///< c s r t, after the signal of C and S has been taken out
  std::optional<Signal> signal = {};
  AddressRange range = {};
  std::optional<packet::ThreadSelector> selector = {};  ///< nothing: all that no action before named

  bool steps() const { return kind == 's' || kind == 'r'; }
  bool is_for_one() const { return selector && selector->is_one(); }
};

std::optional<Signal> read_signal(Cursor& args) {
  const auto number = args.number();
  if (!number) return std::nullopt;
  return packet::linux_signal(*number).value_or(kNoSignal);
}

std::optional<Action> read_action(Cursor args) {
  Action action;
  const auto kind = args.chars(1);
  if (kind.empty()) return std::nullopt;
  action.kind = kind.front();
  switch (action.kind) {
    case 'c':
    case 's':
    case 't':
      break;
    case 'C':
    case 'S': {
      action.kind = action.kind == 'C' ? 'c' : 's';
      action.signal = read_signal(args);
      if (!action.signal) return std::nullopt;
      break;
    }
    case 'r': {
      const auto start = args.number();
      if (!start || !args.take(',')) return std::nullopt;
      const auto end = args.number();
      if (!end) return std::nullopt;
      action.range = {{*start}, {*end}};
      break;
    }
    default:
      return std::nullopt;
  }
  if (args.take(':')) {
    action.selector = packet::read_thread(args);
    if (!action.selector) return std::nullopt;
  }
  if (!args.at_end()) return std::nullopt;
  return action;
}

std::optional<ThreadRef> find_thread(Session& session,
                                     const std::optional<packet::ThreadSelector>& selector) {
  if (!selector || !selector->is_one()) return std::nullopt;
  for (const auto& thread : session.target().threads()) {
    if (selector->matches(thread.id)) return thread.id;
  }
  return std::nullopt;
}

/// The legacy packets: [signal;][address], for the thread that Hc chose.
Reply resume_simply(Session& session, Motion motion, std::optional<Signal> signal, Cursor args) {
  ResumeRequest request;
  request.motion = motion;
  request.signal = signal;
  request.thread = find_thread(session, session.client().to_resume);
  if (!args.at_end()) {
    const auto address = args.number();
    if (!address || !args.at_end()) return malformed();
    const auto thread = request.thread.value_or(session.target().current_thread());
    auto values = session.target().read_registers(thread);
    if (!values) return Reply::error_code(values.error().code);
    values.value().rip = *address;
    const auto status = session.target().write_registers(thread, values.value());
    if (!status) return Reply::error(status.error());
  }
  return session.resume(std::move(request));
}

Reply resume_with_signal(Session& session, Motion motion, Cursor args) {
  const auto signal = read_signal(args);
  if (!signal) return malformed();
  if (!args.at_end() && !args.take(';')) return malformed();
  return resume_simply(session, motion, signal, args);
}

}  // namespace

Reply resume_kinds(Session&, Cursor) { return Reply::text("vCont;c;C;s;S;r;t"); }

/// In all-stop mode one action says what is wanted: a step of one thread, or the signal for one. The others
/// are there to say whether the remaining threads run, too.
Reply resume_threads(Session& session, Cursor args) {
  std::optional<Action> main;
  bool others_run = false;
  bool any_runs = false;
  while (!args.at_end()) {
    const auto action = read_action(Cursor(args.field(';')));
    if (!action) return malformed();
    if (action->kind == 't') continue;
    any_runs = true;
    if (!action->is_for_one()) others_run = true;
    const bool is_more_telling =
        !main || (action->steps() && !main->steps()) || (action->signal && !main->signal && !main->steps());
    if (is_more_telling) main = action;
  }
  // Nothing is to move: it has stopped already.
  if (!any_runs) return Reply::text(session.last_stop_reply());

  ResumeRequest request;
  request.motion = main->kind == 'r'   ? Motion::kStepRange
                   : main->kind == 's' ? Motion::kStep
                                       : Motion::kContinue;
  request.range = main->range;
  request.signal = main->signal;
  request.thread = find_thread(session, main->selector);
  request.only_this_thread = !others_run;
  return session.resume(std::move(request));
}

Reply resume_continue(Session& session, Cursor args) {
  return resume_simply(session, Motion::kContinue, std::nullopt, args);
}
Reply resume_step(Session& session, Cursor args) {
  return resume_simply(session, Motion::kStep, std::nullopt, args);
}
Reply resume_continue_signal(Session& session, Cursor args) {
  return resume_with_signal(session, Motion::kContinue, args);
}
Reply resume_step_signal(Session& session, Cursor args) {
  return resume_with_signal(session, Motion::kStep, args);
}

Reply backward_continue(Session& session, Cursor) {
  ResumeRequest request;
  request.direction = Direction::kBackward;
  return session.resume(std::move(request));
}

Reply backward_step(Session& session, Cursor) {
  ResumeRequest request;
  request.direction = Direction::kBackward;
  request.motion = Motion::kStep;
  request.thread = find_thread(session, session.client().to_resume);
  return session.resume(std::move(request));
}

}  // namespace detrec::gdbstub::commands
