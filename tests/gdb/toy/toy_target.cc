#include "tests/gdb/toy/toy_target.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "gdbstub/agent/condition.h"

namespace detrec::gdbstub::toy {

ToyTarget::ToyTarget(asio::io_context& io, Recording recording, ToyOptions options)
    : io_(io), timer_(io), recording_(std::move(recording)), options_(options), layout_(options.vectors) {}

ThreadRef ToyTarget::current_thread() const { return {recording_.process.id, {recording_.process.id.value}}; }

/// The program's thread, and one that is parked for ever at the first position.
std::vector<ThreadInfo> ToyTarget::threads() const {
  const auto own = current_thread();
  return {{own, recording_.process.name, 0, ""},
          {{own.process, {own.thread.value + 1}}, "parked & <idle>", 1, "never runs"}};
}

Result<ProcessInfo> ToyTarget::process_info(ProcessId process) {
  if (process != recording_.process.id) return Error{ESRCH, "no such process"};
  return recording_.process;
}

Result<std::vector<std::uint8_t>> ToyTarget::auxv(ProcessId process) {
  if (process != recording_.process.id) return Error{ESRCH, "no such process"};
  return recording_.auxv;
}

Result<Registers> ToyTarget::read_registers(ThreadRef thread) {
  if (thread == current_thread()) return recording_.steps[position_].registers;
  for (const auto& other : threads()) {
    if (other.id == thread) return recording_.steps[0].registers;
  }
  return Error{ESRCH, "no such thread"};
}

const Region* ToyTarget::region_at(Address address) const {
  for (const auto& region : recording_.regions) {
    if (region.mapping.range.contains(address)) return &region;
  }
  return nullptr;
}

Result<std::size_t> ToyTarget::read_memory(ProcessId, Address address, std::span<std::uint8_t> out) {
  std::size_t done = 0;
  while (done < out.size()) {
    const Address at{address.value + done};
    const auto* region = region_at(at);
    if (region == nullptr || region->bytes.empty()) break;
    const auto offset = at.value - region->mapping.range.start.value;
    const auto count = std::min<std::uint64_t>(out.size() - done, region->bytes.size() - offset);
    std::memcpy(out.data() + done, region->bytes.data() + offset, count);
    done += count;
  }
  if (done == 0) return Error{EFAULT, "not mapped"};
  return done;
}

Result<std::vector<std::uint8_t>> ToyTarget::read_siginfo(ThreadRef thread) {
  if (thread != current_thread() || !at_signal_) return Error{ENODATA, "no signal"};
  std::vector<std::uint8_t> bytes(128);
  siginfo_t info{};
  info.si_signo = SIGTRAP;
  info.si_code = SI_KERNEL;
  static_assert(sizeof info == 128);
  std::memcpy(bytes.data(), &info, sizeof info);
  return bytes;
}

Status ToyTarget::check_breakpoint(const BreakpointSpec& spec) {
  if (region_at(spec.address) == nullptr) return Error{EFAULT, "the toy has nothing mapped there"};
  return Done{};
}

Status ToyTarget::resume(const ResumeRequest& request) {
  breakpoint_changes_ += request.change.added.size() + request.change.removed.size();
  if (request.thread && *request.thread != current_thread()) return Error{0, "the parked thread never runs"};
  if (request.signal && *request.signal != kNoSignal)
    return Error{0, "the recording has no such signal here"};
  motion_ = request;
  interrupted_ = false;
  schedule();
  return Done{};
}

Status ToyTarget::restart() {
  seek(0);
  asio::post(io_, [this] { report(StepDone{}); });
  return Done{};
}

void ToyTarget::schedule() {
  if (options_.pause.count() == 0 || motion_.motion != Motion::kContinue) {
    asio::post(io_, [this] { run_slice(); });
    return;
  }
  timer_.expires_after(options_.pause);
  timer_.async_wait([this](const asio::error_code&) { run_slice(); });
}

void ToyTarget::run_slice() {
  for (std::size_t i = 0; i < options_.slice; ++i) {
    if (interrupted_) return report(Interrupted{});
    if (const auto reason = move_once()) return report(*reason);
  }
  schedule();
}

std::optional<StopReason> ToyTarget::move_once() {
  at_signal_ = false;
  if (motion_.direction == Direction::kForward) {
    if (position_ + 1 == recording_.steps.size()) return HistoryEnd{};
    const auto& step = recording_.steps[position_];
    step_forward();
    if (step.traps) {
      at_signal_ = true;
      return SignalArrived{kSigTrap};
    }
    if (const auto hit = watch_hit(step)) return hit;
  } else {
    if (position_ == 0) return HistoryBegin{};
    step_backward();
    if (const auto hit = watch_hit(recording_.steps[position_])) return hit;
  }
  if (const auto hit = breakpoint_here()) return hit;
  const auto pc = recording_.steps[position_].registers.pc();
  if (motion_.motion == Motion::kStep) return StepDone{};
  if (motion_.motion == Motion::kStepRange && !motion_.range.contains(pc)) return StepDone{};
  return std::nullopt;
}

std::optional<StopReason> ToyTarget::breakpoint_here() {
  const auto& values = recording_.steps[position_].registers;
  for (const auto kind : {BreakpointKind::kSoftware, BreakpointKind::kHardware}) {
    const auto found = motion_.breakpoints->find({kind, values.pc(), 1, recording_.process.id});
    if (found == motion_.breakpoints->end()) continue;
    agent::TargetMachine machine(*this, recording_.process.id, layout_, values);
    if (agent::should_stop(found->second.conditions, machine)) return BreakpointHit{kind};
  }
  return std::nullopt;
}

std::optional<StopReason> ToyTarget::watch_hit(const Step& step) const {
  for (const auto& write : step.writes) {
    const AddressRange written{write.address, {write.address.value + write.after.size()}};
    for (const auto& [spec, breakpoint] : *motion_.breakpoints) {
      if (!spec.is_watch() || spec.kind == BreakpointKind::kRead) continue;
      const auto start = std::max(written.start, spec.range().start);
      if (start < std::min(written.end, spec.range().end)) return WatchHit{spec.kind, start};
    }
  }
  return std::nullopt;
}

void ToyTarget::step_forward() {
  for (const auto& write : recording_.steps[position_].writes) apply(write.address, write.after);
  ++position_;
}

void ToyTarget::step_backward() {
  --position_;
  for (const auto& write : recording_.steps[position_].writes) apply(write.address, write.before);
}

void ToyTarget::apply(Address address, std::span<const std::uint8_t> bytes) {
  auto* region = const_cast<Region*>(region_at(address));
  std::memcpy(region->bytes.data() + (address.value - region->mapping.range.start.value), bytes.data(),
              bytes.size());
}

void ToyTarget::seek(std::size_t position) {
  at_signal_ = false;
  while (position_ > position) step_backward();
  while (position_ < position) step_forward();
}

void ToyTarget::report(const StopReason& reason) {
  if (observer_ != nullptr) observer_->on_stop({current_thread(), reason, 0});
}

void ToyTarget::monitor(const std::string& command, std::shared_ptr<MonitorReply> reply) {
  if (command == "when") {
    reply->line("position " + std::to_string(position_) + " of " +
                std::to_string(recording_.steps.size() - 1));
    reply->line("breakpoint changes " + std::to_string(breakpoint_changes_));
    return reply->finish(Done{});
  }
  if (command.starts_with("seek ")) {
    const auto position = std::strtoul(command.c_str() + 5, nullptr, 10);
    if (position >= recording_.steps.size()) return reply->finish(Error{EINVAL, "the recording ends before"});
    seek(position);
    return reply->finish(Done{});
  }
  if (command == "slowly") {
    // Two lines with the loop in between, as a command has that replays.
    reply->line("working");
    timer_.expires_after(std::chrono::milliseconds(200));
    timer_.async_wait([reply](const asio::error_code&) {
      reply->line("done");
      reply->finish(Done{});
    });
    return;
  }
  if (command == "much") {
    for (int i = 0; i < 2000; ++i) reply->line("line " + std::to_string(i) + " with #$}*: in it");
    return reply->finish(Done{});
  }
  Target::monitor(command, std::move(reply));
}

}  // namespace detrec::gdbstub::toy
