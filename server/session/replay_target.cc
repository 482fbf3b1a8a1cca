#include "server/session/replay_target.h"

#include <sys/sysmacros.h>

#include <algorithm>
#include <asio/executor_work_guard.hpp>
#include <asio/post.hpp>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>

#include "gdbstub/agent/condition.h"
#include "server/session/registers.h"
#include "trace/event/position.h"

namespace detrec::server {
namespace {

using namespace gdbstub;

bool has_conditions(const BreakpointSet& set) {
  return std::any_of(set.begin(), set.end(), [](const auto& b) { return !b.second.conditions.empty(); });
}

Error gone(const event::Error& error) { return {EIO, to_string(error)}; }

/// Bit n - 1 stands for signal n.
std::uint64_t signal_mask(const std::set<Signal>& signals) {
  std::uint64_t mask = 0;
  for (const Signal signal : signals) {
    if (signal.value >= 1 && signal.value <= 64) mask |= std::uint64_t{1} << (signal.value - 1);
  }
  return mask;
}

/// Whether `here` is what was asked for. Ticks and pc may have been left out: then the first with the rest
/// is.
bool is_wanted(const wire::DebugPosition& here, const wire::DebugPosition& wanted) {
  if (here.event != wanted.event) return false;
  if (wanted.pc == 0 && (wanted.ticks == 0 || here.ticks == wanted.ticks)) return true;
  return here == wanted;
}

/// Of the program of a diversion.
std::string describe_end(const wire::DebugStop& end) {
  return "the diverted program has ended with " +
         (end.signal != 0 ? "signal " + std::to_string(end.signal) : "status " + std::to_string(end.status));
}

event::Position to_position(const wire::DebugPosition& p) { return {{p.event}, {p.ticks}, {p.pc}}; }

}  // namespace

ReplayTarget::ReplayTarget(asio::io_context& io, storage::TraceReader& reader,
                           std::unique_ptr<Timeline> timeline, Reports reports)
    : io_(io),
      timeline_(std::move(timeline)),
      diversion_(*timeline_, diversion_reports()),
      files_(reader),
      layout_(server::vector_level()),
      reports_(std::move(reports)) {}

/// Called in the mover's thread, too.
Diversion::Reports ReplayTarget::diversion_reports() {
  return {[this](const std::string& text) {
            asio::post(io_, [this, text] {
              if (observer_ != nullptr) observer_->on_output(text);
            });
          },
          [this](const std::string& line) { reports_.warn(line); }};
}

ReplayTarget::~ReplayTarget() {
  timeline_->interrupt();
  if (mover_.joinable()) mover_.join();
}

VectorLevel ReplayTarget::vector_level() const { return server::vector_level(); }

ThreadRef ReplayTarget::current_thread() const {
  const wire::DebugStop& stop = diversion_.last_stop();
  return {{stop.pid}, {stop.tid}};
}

std::vector<ThreadInfo> ReplayTarget::threads() const {
  std::vector<ThreadInfo> all;
  const ImageStart* image = timeline_->image();
  const std::string name = image != nullptr ? std::filesystem::path(image->path).filename().string() : "";
  for (const wire::DebugThread& t : timeline_->threads()) all.push_back({{{t.pid}, {t.tid}}, name});
  if (all.empty()) all.push_back({current_thread(), name});
  return all;
}

Result<ProcessInfo> ReplayTarget::process_info(ProcessId process) {
  if (process != current_thread().process) return Error{ESRCH, "no such process"};
  ProcessInfo info;
  info.id = process;
  if (const ImageStart* image = timeline_->image()) {
    info.name = std::filesystem::path(image->path).filename().string();
    info.arguments = image->arguments;
    info.environment = image->environment;
  }
  const auto mappings = diversion_.mappings();
  if (!mappings) return gone(mappings.error());
  for (const GuestProcess::Mapping& m : mappings.value()) {
    Mapping row;
    row.range = {{m.row.begin}, {m.row.end}};
    row.readable = (m.row.protection & 1) != 0;
    row.writable = (m.row.protection & 2) != 0;
    row.executable = (m.row.protection & 4) != 0;
    row.offset = m.row.offset;
    row.device_major = major(m.row.device);
    row.device_minor = minor(m.row.device);
    row.inode = m.row.inode;
    row.path = m.name;
    info.mappings.push_back(std::move(row));
  }
  info.executable = executable_path(info.mappings);
  return info;
}

/// The program's file is the one that its program headers lie in.
std::string ReplayTarget::executable_path(const std::vector<Mapping>& mappings) {
  const auto vector = auxv(current_thread().process);
  if (!vector) return {};
  constexpr std::uint64_t kAtPhdr = 3;
  for (std::size_t i = 0; i + 16 <= vector.value().size(); i += 16) {
    std::uint64_t entry[2];
    std::memcpy(entry, vector.value().data() + i, sizeof entry);
    if (entry[0] != kAtPhdr) continue;
    for (const Mapping& m : mappings) {
      if (m.range.contains({entry[1]})) return m.path;
    }
  }
  return {};
}

/// Behind the environment on the initial stack (System V ABI 3.4.1).
Result<std::vector<std::uint8_t>> ReplayTarget::auxv(ProcessId) {
  const ImageStart* image = timeline_->image();
  if (image == nullptr) return Error{ENOENT, "no program has been started yet"};
  std::vector<std::uint64_t> words(64 * 1024);
  const auto read = timeline_->read_memory(
      image->stack_pointer, {reinterpret_cast<std::uint8_t*>(words.data()), words.size() * sizeof words[0]});
  if (!read) return gone(read.error());
  words.resize(read.value() / sizeof words[0]);
  std::size_t at = words.empty() ? 0 : words[0] + 2;  // argc, argv, NULL
  while (at < words.size() && words[at] != 0) ++at;   // envp
  const std::size_t begin = ++at;
  while (at + 1 < words.size() && words[at] != 0) at += 2;
  if (at + 1 >= words.size()) return Error{EFAULT, "the initial stack is not there"};
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(words.data());
  return std::vector<std::uint8_t>(bytes + begin * 8, bytes + (at + 2) * 8);
}

/// 0: there is no such thread.
std::uint32_t ReplayTarget::thread_number(ThreadRef thread) const {
  for (const wire::DebugThread& t : timeline_->threads()) {
    if (t.tid == thread.thread.value) return t.number;
  }
  return 0;
}

Result<Registers> ReplayTarget::read_registers(ThreadRef thread) {
  const auto number = thread_number(thread);
  if (number == 0) return Error{ESRCH, "no such thread"};
  auto registers = diversion_.read_registers(number);
  if (!registers) return gone(registers.error());
  return std::move(registers.value());
}

Result<std::size_t> ReplayTarget::read_memory(ProcessId, Address address, std::span<std::uint8_t> out) {
  const auto read = diversion_.read_memory(address.value, out);
  if (!read) return gone(read.error());
  if (read.value() == 0) return Error{EFAULT, "not mapped"};
  return read.value();
}

/// gdb leaves a breakpoint that is set on an int3 of the program's own by moving the pc behind it. That is no
/// change: the int3 is executed, and its signal arrives, as recorded.
bool ReplayTarget::skips_own_trap(const Registers& before, const Registers& after) {
  constexpr std::uint8_t kInt3 = 0xcc;
  std::uint8_t code = 0;
  if (after.rip != before.rip + 1 || diversion_.is_seen()) return false;
  const auto& pcs = points_.breakpoints;
  if (std::find(pcs.begin(), pcs.end(), before.rip) == pcs.end()) return false;
  const auto read = timeline_->read_memory(before.rip, {&code, 1});
  return read && read.value() == 1 && code == kInt3;
}

Status ReplayTarget::write_registers(ThreadRef thread, const Registers& registers) {
  const auto number = thread_number(thread);
  if (number == 0) return Error{ESRCH, "no such thread"};
  const auto before = diversion_.read_registers(number);
  if (!before) return gone(before.error());
  if (skips_own_trap(before.value(), registers)) return Done{};
  if (const auto written = diversion_.write_registers(number, registers); !written)
    return gone(written.error());
  return Done{};
}

Status ReplayTarget::write_memory(ProcessId, Address address, std::span<const std::uint8_t> bytes) {
  const auto written = diversion_.write_memory(address.value, bytes);
  if (written) return Done{};
  if (written.error().code == event::ErrorCode::kNotFound) return Error{EFAULT, "not mapped"};
  return gone(written.error());
}

/// gdb puts it back as it was, after a call.
Status ReplayTarget::write_siginfo(ThreadRef thread, std::span<const std::uint8_t> bytes) {
  const auto now = read_siginfo(thread);
  if (now && std::equal(bytes.begin(), bytes.end(), now.value().begin(), now.value().end())) return Done{};
  return Target::write_siginfo(thread, bytes);
}

Result<std::vector<std::uint8_t>> ReplayTarget::read_siginfo(ThreadRef thread) {
  const wire::DebugStop& stop = diversion_.last_stop();
  if (stop.reason != wire::StopReason::kSignal || thread != current_thread())
    return Error{ENODATA, "no signal"};
  return std::vector<std::uint8_t>(std::begin(stop.siginfo), std::end(stop.siginfo));
}

void ReplayTarget::take_breakpoints(const BreakpointSet& set) {
  std::vector<std::uint64_t> pcs;
  std::vector<wire::DebugWatch> watches;
  for (const auto& [spec, breakpoint] : set) {
    if (!spec.is_watch()) {
      pcs.push_back(spec.address.value);
      continue;
    }
    watches.push_back({spec.address.value, spec.length, static_cast<wire::WatchKind>(spec.kind), 0});
  }
  points_ = {pcs, watches};
  timeline_->set_points(std::move(pcs), std::move(watches));
}

/// Runs `job` in the mover's thread, then what it returns in the loop.
void ReplayTarget::work(Job job) {
  if (mover_.joinable()) mover_.join();
  moving_ = true;
  auto guard = asio::make_work_guard(io_);
  mover_ = std::thread([this, job = std::move(job), guard] {
    auto then = job();
    asio::post(io_, [this, then = std::move(then)] {
      if (mover_.joinable()) mover_.join();
      moving_ = false;
      if (std::exchange(client_gone_, false)) forget_changes();
      then();
    });
  });
}

void ReplayTarget::perform(Move move, bool diverted) {
  told_diverted_ = diverted;
  work([this, diverted, move = std::move(move)]() -> std::function<void()> {
    return [this, diverted, result = move()] {
      // What has stopped may be gone by now, with its client.
      const bool gone = diverted && !told_diverted_;
      report(gone ? event::Result<Standstill>(Standstill{}) : result);
    };
  });
}

Status ReplayTarget::resume(const ResumeRequest& request) {
  const bool diverted = diversion_.is_seen() && request.direction == Direction::kForward;
  const bool wants_signal = request.signal && *request.signal != kNoSignal;
  const Diversion::Held held = diversion_.held_signal();
  const bool is_held = wants_signal && request.signal->value == held.signal;
  if (!diverted && wants_signal && !is_held && timeline_->last_stop().reason != wire::StopReason::kSignal) {
    diversion_.hold_signal(0);
    return Error{0, "a replay delivers the recorded signals only"};
  }
  if (!diverted) diversion_.drop();
  if (!request.change.empty() || request_.breakpoints == nullptr) take_breakpoints(*request.breakpoints);
  request_ = request;
  if (is_held && held.stale) request_.signal.reset();
  timeline_->begin_motion();
  perform([this, diverted] { return diverted ? move_diverted(request_) : this->move(request_); }, diverted);
  return Done{};
}

void ReplayTarget::client_gone() {
  if (moving_) {
    client_gone_ = true;  // what runs stops first
  } else {
    forget_changes();
  }
}

/// Of a client that is gone. The next one knows nothing of them.
void ReplayTarget::forget_changes() {
  diversion_.drop();
  diversion_.hold_signal(0);
  if (std::exchange(told_diverted_, false) && observer_ != nullptr) observer_->on_moved();
}

Status ReplayTarget::restart() {
  diversion_.drop();
  timeline_->begin_motion();
  perform([this] { return timeline_->seek_begin(); });
  return Done{};
}

event::Result<Standstill> ReplayTarget::move(const ResumeRequest& request) {
  timeline_->set_quiet_signals(signal_mask(request.pass_signals));
  if (request.direction == Direction::kBackward) {
    if (request.motion != Motion::kContinue) return timeline_->step_backward();
    Timeline::Filter filter;
    if (has_conditions(*request.breakpoints))
      filter = [&](const wire::DebugHit& hit) { return counts(request, hit); };
    return timeline_->go_backward(filter);
  }
  if (request.motion != Motion::kContinue) {
    Step step;
    if (request.thread) step.thread = thread_number(*request.thread);
    if (request.motion == Motion::kStepRange)
      step.range_begin = request.range.start.value, step.range_end = request.range.end.value;
    for (;;) {
      auto result = timeline_->step_forward(step);
      if (!result || stops(request, result.value())) return result;
    }
  }
  for (;;) {
    auto result = timeline_->go_forward();
    if (!result || stops(request, result.value())) return result;
    if (timeline_->interrupt_wanted()) return Standstill{Standstill::Reason::kInterrupted, {}};
  }
}

event::Result<Standstill> ReplayTarget::move_diverted(const ResumeRequest& request) {
  Diversion::Motion motion;
  motion.steps = request.motion != Motion::kContinue;
  if (request.thread) motion.thread = thread_number(*request.thread);
  if (request.motion == Motion::kStepRange)
    motion.range_begin = request.range.start.value, motion.range_end = request.range.end.value;
  if (request.signal) motion.signal = static_cast<std::uint32_t>(request.signal->value);
  motion.quiet_signals = signal_mask(request.pass_signals);
  for (;;) {
    auto result = diversion_.run(motion, points_);
    if (!result || stops(request, result.value())) return result;
    if (timeline_->interrupt_wanted()) return Standstill{Standstill::Reason::kInterrupted, {}};
    motion.signal = 0;
  }
}

/// False for a breakpoint whose condition does not hold.
bool ReplayTarget::stops(const ResumeRequest& request, const Standstill& standstill) {
  return standstill.reason != Standstill::Reason::kBreakpoint || counts(request, standstill.hit);
}

/// Whether the condition of a breakpoint here holds.
bool ReplayTarget::counts(const ResumeRequest& request, const wire::DebugHit& hit) {
  if (hit.reason == wire::StopReason::kWatch) return true;
  std::optional<agent::TargetMachine> machine;
  const auto registers = read_registers(current_thread());
  if (!registers) return true;
  for (const auto& [spec, breakpoint] : *request.breakpoints) {
    if (spec.is_watch() || spec.address.value != hit.position.pc) continue;
    if (breakpoint.conditions.empty()) return true;
    if (!machine) machine.emplace(*this, current_thread().process, layout_, registers.value());
    if (agent::should_stop(breakpoint.conditions, *machine)) return true;
  }
  return false;
}

/// Of the process that stands where it differs.
std::string ReplayTarget::divergence_report() {
  const wire::DebugStop& stop = timeline_->last_stop();
  wire::Divergence at{};
  at.event = stop.position.event;
  at.ticks = stop.position.ticks;
  at.pc = stop.position.pc;
  at.thread = stop.thread;
  if (const auto registers = timeline_->read_registers(stop.thread)) {
    std::copy(std::begin(registers.value().gpr), std::end(registers.value().gpr), at.gpr);
    at.rflags = registers.value().rflags;
  }
  static_cast<void>(timeline_->read_memory(at.pc, at.code));  // zeros where there is none
  return reports_.describe_divergence(at, timeline_->message());
}

/// 0: a stop for `reason` is none for a signal. (SIGTRAP, which stands for most, gdb does not send.)
std::int32_t ReplayTarget::signal_told(Standstill::Reason reason) const {
  if (reason == Standstill::Reason::kInterrupted) return kSigInt.value;
  return reason == Standstill::Reason::kSignal ? diversion_.last_stop().signal : 0;
}

void ReplayTarget::report(const event::Result<Standstill>& result) {
  if (observer_ == nullptr) return;
  StopEvent stop{current_thread(), StepDone{}, {}};
  if (!result) {
    diversion_.hold_signal(0);
    observer_->on_output("detrec: " + to_string(result.error()) + "\n");
    stop.reason = HistoryEnd{};
    return observer_->on_stop(stop);
  }
  const Standstill& standstill = result.value();
  diversion_.hold_signal(signal_told(standstill.reason));
  switch (standstill.reason) {
    case Standstill::Reason::kStep:
    case Standstill::Reason::kArrived:
      break;
    case Standstill::Reason::kBreakpoint: {
      stop.reason = BreakpointHit{BreakpointKind::kSoftware};
      break;
    }
    case Standstill::Reason::kWatch:
      stop.reason =
          WatchHit{static_cast<BreakpointKind>(standstill.hit.watch_kind), {standstill.hit.address}};
      break;
    case Standstill::Reason::kSignal:
      stop.reason = SignalArrived{{diversion_.last_stop().signal}};
      break;
    case Standstill::Reason::kInterrupted:
      stop.reason = Interrupted{};
      break;
    case Standstill::Reason::kBegin:
      stop.reason = HistoryBegin{};
      break;
    case Standstill::Reason::kExited:
      // An exit would make gdb give up the process, and with it the way back.
      observer_->on_output("detrec: " + describe_end(diversion_.last_stop()) + "\n");
      stop.reason = HistoryEnd{};
      break;
    case Standstill::Reason::kDiverged:
      observer_->on_output(divergence_report());
      stop.reason = HistoryEnd{};
      break;
    case Standstill::Reason::kEnd:
      if (const std::string message = timeline_->message(); !message.empty())
        observer_->on_output("detrec: " + message + "\n");
      stop.reason = HistoryEnd{};
      break;
  }
  observer_->on_stop(stop);
}

std::string ReplayTarget::when() const { return event::to_string(to_position(timeline_->spot().position)); }

/// Answers a `monitor seek`: where one is now, and what the user would else wonder about.
void ReplayTarget::report_seek(const wire::DebugPosition& wanted, const Standstill& standstill,
                               MonitorReply& reply) {
  reply.line(when());
  const wire::DebugPosition here = timeline_->spot().position;
  switch (standstill.reason) {
    case Standstill::Reason::kEnd:
      reply.line("the recording ends here");
      break;
    case Standstill::Reason::kDiverged:
      reply.line(divergence_report());
      break;
    case Standstill::Reason::kInterrupted:
      reply.line("interrupted on the way to " + event::to_string(to_position(wanted)));
      break;
    default:
      if (!is_wanted(here, wanted))
        reply.line("there is no position " + event::to_string(to_position(wanted)) + "; this is the " +
                   (wanted < here ? "next" : "nearest before") + " one");
      break;
  }
  if (timeline_->threads().size() > 1)
    reply.line("thread " + std::to_string(current_thread().thread.value) +
               " is about to run; gdb's own: info threads, thread N");
}

void ReplayTarget::seek(const std::string& to, std::shared_ptr<MonitorReply> reply) {
  const auto position = event::parse_position(to);
  if (!position) return reply->finish(Error{EINVAL, to_string(position.error())});
  const wire::DebugPosition wanted{position.value().event.value, position.value().ticks.value,
                                   position.value().pc.value};
  diversion_.drop();
  timeline_->begin_motion();
  work([this, wanted, reply]() -> std::function<void()> {
    return [this, wanted, reply, result = timeline_->seek(wanted)] {
      if (!result) return reply->finish(gone(result.error()));
      report_seek(wanted, result.value(), *reply);
      reply->finish(Done{});
    };
  });
}

void ReplayTarget::end_diversion(MonitorReply& reply) {
  // No error: gdb would add one of its own, about the protocol.
  if (diversion_.is_seen()) {
    diversion_.drop();
    reply.line(when());
  } else {
    reply.line("there is no diversion");
  }
  reply.finish(Done{});
}

void ReplayTarget::keep_checkpoint(std::shared_ptr<MonitorReply> reply) {
  timeline_->begin_motion();
  work([this, reply]() -> std::function<void()> {
    const auto begun = std::chrono::steady_clock::now();
    const auto kept = timeline_->keep_checkpoint();
    const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - begun;
    return [this, reply, kept, taken] {
      if (!kept) return reply->finish(gone(kept.error()));
      char text[64];
      std::snprintf(text, sizeof text, " (%.1f ms)", taken.count());
      reply->line(when() + text);
      reply->finish(Done{});
    };
  });
}

void ReplayTarget::monitor(const std::string& command, std::shared_ptr<MonitorReply> reply) {
  if (command == "when") {
    if (diversion_.is_seen()) diversion_.announce();
    reply->line((diversion_.is_seen() ? "diverted from " : "") + when());
    return reply->finish(Done{});
  }
  if (command.starts_with("seek ")) return seek(command.substr(5), std::move(reply));
  if (command == "checkpoint") return keep_checkpoint(std::move(reply));
  if (command == "end-diversion") return end_diversion(*reply);
  if (command == "help") {
    reply->line("monitor when              the position: event:ticks:pc");
    reply->line("monitor checkpoint        comes back here faster");
    reply->line("monitor end-diversion     what was changed is as recorded again; then as below");
    reply->line("monitor seek POSITION     goes there; then, in this order:");
    reply->line("                            maintenance flush dcache");
    reply->line("                            maintenance flush register-cache");
    return reply->finish(Done{});
  }
  reply->finish(Error{EINVAL, "unknown command; try: monitor help"});
}

}  // namespace detrec::server
