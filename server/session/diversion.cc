#include "server/session/diversion.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "server/session/registers.h"
#include "trace/event/position.h"

namespace detrec::server {
namespace {

using gdbstub::Gpr;
using gdbstub::Registers;
using wire::StopReason;

/// How far below the stack pointer gdb puts what a call needs; and what may be a leaf function's own there
/// (System V ABI 3.2.2).
constexpr std::uint64_t kScratch = 16 * 1024, kRedZone = 128;

/// What gdb saves before a call and puts back after it.
bool same_kept(const Registers& a, const Registers& b) {
  const auto same_low = [&](std::size_t i) { return std::memcmp(&a.vector[i], &b.vector[i], 16) == 0; };
  for (std::size_t i = 0; i < 16; ++i) {
    if (!same_low(i)) return false;
  }
  return a.gpr == b.gpr && a.rip == b.rip && a.rflags == b.rflags && a.fs_base == b.fs_base &&
         a.gs_base == b.gs_base && a.mxcsr == b.mxcsr && a.x87.st == b.x87.st &&
         a.x87.control == b.x87.control && a.x87.status == b.x87.status && a.x87.tag == b.x87.tag;
}

bool is_below(std::uint64_t sp, std::uint64_t address, std::uint64_t size) {
  return address < sp && sp - address <= kScratch && size <= sp - address;
}

/// The rest of the vector registers.
bool same_wider(const Registers& a, const Registers& b) {
  for (std::size_t i = 0; i < a.vector.size(); ++i) {
    const std::size_t kept = i < 16 ? 16 : 0;
    if (std::memcmp(a.vector[i].data() + kept, b.vector[i].data() + kept, 64 - kept) != 0) return false;
  }
  return a.mask == b.mask;
}

std::string position_text(const Spot& spot) {
  const wire::DebugPosition& p = spot.position;
  return event::to_string(event::Position{{p.event}, {p.ticks}, {p.pc}});
}

}  // namespace

bool Diversion::ThreadRegisters::changed() const {
  return !same_kept(now, recorded) || (wider_written && !same_wider(now, recorded));
}

bool Diversion::is_seen() const {
  return open_ ||
         std::any_of(registers_.begin(), registers_.end(), [](const auto& r) { return r.second.changed(); });
}

void Diversion::announce() {
  if (announced_) return;
  announced_ = true;
  reports_.warn(
      "diverted from " + position_text(timeline_.spot()) +
      ": the program lives on its own; going back, monitor seek and monitor end-diversion lead back");
}

void Diversion::announce_end() {
  if (std::exchange(announced_, false))
    reports_.warn("back in the recording at " + position_text(timeline_.spot()));
}

void Diversion::drop() {
  if (copy_ && !ran_ && !open_)
    reports_.warn("what was written below the stack pointer is lost: it would be a part of a call");
  announce_end();
  held_.stale = true;
  returned_ = false;
  forget_copy();
}

void Diversion::hold_signal(std::int32_t signal) {
  // After a call gdb has again what it had before.
  if (!std::exchange(returned_, false)) held_ = {signal, false};
}

void Diversion::forget_copy() {
  copy_.reset();
  registers_.clear();
  results_.clear();
  runner_ = 0;
  calls_.clear();
  allocated_ = {};
  ran_ = open_ = false;
}

event::Status Diversion::ensure_copy() {
  if (copy_) return event::Done{};
  auto copy = timeline_.split_diversion();
  if (!copy) return copy.error();
  copy_ = std::move(copy.value());
  wall_ns_ = timeline_.wall_time();
  return event::Done{};
}

// Memory

/// Below what a thread that gdb calls functions with has on its stack in the recording.
bool Diversion::is_scratch(std::uint64_t address, std::uint64_t size) const {
  return std::any_of(registers_.begin(), registers_.end(), [&](const auto& entry) {
    return is_below(entry.second.recorded[Gpr::kRsp], address, size);
  });
}

/// The same, also of threads that it has not called any with: the first that it writes may lie there.
bool Diversion::is_scratch_of_any(std::uint64_t address, std::uint64_t size) {
  if (is_scratch(address, size)) return true;
  for (const wire::DebugThread& thread : timeline_.threads()) {
    const auto stored = timeline_.read_registers(thread.number);
    if (!stored || !is_below(convert_registers(stored.value())[Gpr::kRsp], address, size)) continue;
    static_cast<void>(registers_of(thread.number));
    return true;
  }
  return false;
}

/// While gdb sees the recording.
bool Diversion::reads_copy(std::uint64_t address, std::uint64_t size) {
  return copy_ && (is_scratch(address, size + kRedZone) || results_.claim(address, size));
}

event::Result<std::size_t> Diversion::read_memory(std::uint64_t address, std::span<std::uint8_t> out) {
  if (is_seen()) return copy_ ? copy_->read_memory(address, out) : timeline_.read_memory(address, out);
  if (!reads_copy(address, out.size())) {
    const auto read = timeline_.read_memory(address, out);
    if (!read || read.value() != 0 || !copy_ || !ran_) return read;
  }
  const auto read = copy_->read_memory(address, out);
  if (read) results_.follow(address, out.first(read.value()));
  return read;
}

/// An argument: below the stack pointer, or all of what gdb has just had allocated for it.
bool Diversion::is_for_call(std::uint64_t address, std::uint64_t size) {
  const Allocated last = std::exchange(allocated_, {});
  if (size != 0 && address == last.address && size == last.bytes) return true;
  return is_scratch_of_any(address, size);
}

bool Diversion::has_already(std::uint64_t address, std::span<const std::uint8_t> bytes) {
  std::vector<std::uint8_t> now(bytes.size());
  const auto read = read_memory(address, now);
  return read && read.value() == now.size() && std::equal(now.begin(), now.end(), bytes.begin());
}

event::Status Diversion::write_memory(std::uint64_t address, std::span<const std::uint8_t> bytes) {
  const bool for_call = is_for_call(address, bytes.size());
  if (!for_call && has_already(address, bytes)) return event::Done{};
  // What calls before it have left is no part of a change that lasts.
  if (!for_call && !is_seen()) forget_copy();
  timeline_.begin_motion();
  if (const auto ready = ensure_copy(); !ready) return ready;
  if (const auto written = copy_->write_memory(address, bytes); !written) return written;
  if (for_call) return event::Done{};
  open_ = true;
  announce();
  return event::Done{};
}

event::Result<std::vector<GuestProcess::Mapping>> Diversion::mappings() {
  return is_seen() && copy_ ? copy_->mappings() : timeline_.mappings();
}

// Registers

event::Result<Diversion::ThreadRegisters*> Diversion::registers_of(std::uint32_t thread) {
  if (const auto known = registers_.find(thread); known != registers_.end()) return &known->second;
  const auto stored = timeline_.read_registers(thread);  // those that have not run stand as recorded
  if (!stored) return stored.error();
  ThreadRegisters& registers = registers_[thread];
  registers.stored = stored.value();
  registers.recorded = registers.now = convert_registers(stored.value());
  return &registers;
}

event::Result<Registers> Diversion::read_registers(std::uint32_t thread) {
  const auto known = registers_.find(thread);
  if (known != registers_.end()) return is_seen() ? known->second.now : known->second.recorded;
  const auto stored = timeline_.read_registers(thread);
  if (!stored) return stored.error();
  return convert_registers(stored.value());
}

event::Status Diversion::write_registers(std::uint32_t thread, const Registers& values) {
  const auto found = registers_of(thread);
  if (!found) return found.error();
  ThreadRegisters& registers = *found.value();
  const bool was_seen = is_seen();
  if (!was_seen) registers.now = registers.recorded;
  if (!same_wider(values, registers.now)) registers.wider_written = true;
  registers.now = values;
  registers.written = true;
  runner_ = thread;
  if (!was_seen || is_seen()) return event::Done{};
  // They are as recorded: whatever it was, it is over.
  announce_end();
  if (!calls_.empty()) held_ = calls_.front().held;
  calls_.clear();
  return event::Done{};
}

// Running

/// A call has the program return to a breakpoint of gdb's own.
void Diversion::note_call(const Points& points) {
  const ThreadRegisters& registers = registers_[runner_];
  const std::uint64_t sp = registers.now[Gpr::kRsp];
  if (sp >= registers.recorded[Gpr::kRsp]) return;
  std::uint64_t to = 0;
  const auto read = copy_->read_memory(sp, {reinterpret_cast<std::uint8_t*>(&to), sizeof to});
  if (!read || read.value() != sizeof to) return;
  const auto& pcs = points.breakpoints;
  if (std::find(pcs.begin(), pcs.end(), to) == pcs.end()) return;
  calls_.push_back({to, registers.now[Gpr::kRdi], held_});
}

/// True when `stop` is where a call returns to: it is over, with those that were made meanwhile.
bool Diversion::returns_from_call(const wire::DebugStop& stop) {
  if (stop.reason != StopReason::kBreakpoint) return false;
  const auto call = std::find_if(calls_.begin(), calls_.end(),
                                 [&](const Call& c) { return c.return_address == stop.position.pc; });
  if (call == calls_.end()) return false;
  allocated_ = {registers_[runner_].now[Gpr::kRax], call->first_argument};
  held_ = call->held;
  calls_.erase(call, calls_.end());
  return true;
}

event::Status Diversion::send(const Points& points) {
  for (auto& [thread, registers] : registers_) {
    if (!registers.written) continue;
    convert_registers(registers.now, registers.stored);
    if (const auto sent = copy_->write_registers(thread, registers.stored); !sent) return sent;
    registers.written = false;
  }
  if (const auto sent = copy_->set_breakpoints(points.breakpoints); !sent) return sent;
  return copy_->set_watchpoints(points.watches);
}

/// Until the debugger has to know, passing on what the user has to.
event::Result<wire::DebugStop> Diversion::run_copy(const wire::DebugRun& run) {
  for (;;) {
    auto stop = copy_->run(run);
    if (!stop) return stop;
    if (stop.value().reason == StopReason::kOutput) {
      reports_.output(copy_->output());
    } else if (stop.value().reason == StopReason::kNotice) {
      if (const std::string text = copy_->message(); noticed_.insert(text).second) reports_.warn(text);
    } else {
      return stop;
    }
  }
}

event::Status Diversion::take_stop(const wire::DebugStop& stop) {
  stop_ = stop;
  ran_ = true;
  auto stored = copy_->read_registers(runner_);
  if (!stored) return stored.error();
  ThreadRegisters& registers = registers_[runner_];
  registers.stored = stored.value();
  registers.now = convert_registers(stored.value());
  return event::Done{};
}

event::Result<Standstill> Diversion::run(const Motion& motion, const Points& points) {
  returned_ = false;
  if (const auto ready = ensure_copy(); !ready) return ready.error();
  if (motion.thread != 0) runner_ = motion.thread;
  if (runner_ == 0) runner_ = timeline_.last_stop().thread;
  if (const auto known = registers_of(runner_); !known) return known.error();
  note_call(points);
  if (calls_.empty()) {
    open_ = true;
    announce();
  }
  if (const auto sent = send(points); !sent) return sent.error();

  wire::DebugRun run{};
  run.flags = wire::kRunDiverted;
  run.thread = runner_;
  run.steps = motion.steps ? 1 : 0;
  run.range_begin = motion.range_begin;
  run.range_end = motion.range_end;
  run.signal = motion.signal;
  run.wall_ns = wall_ns_;
  run.quiet_signals = motion.quiet_signals;
  const auto stop = run_copy(run);
  if (!stop) return stop.error();
  if (const auto taken = take_stop(stop.value()); !taken) return taken.error();
  returned_ = returns_from_call(stop.value());
  if (returned_) {
    results_.add(registers_[runner_].now[Gpr::kRax]);
  } else if (stop.value().reason != StopReason::kSteps) {
    announce();
  }
  return standstill_of(stop.value(), Standstill::Reason::kStep);
}

}  // namespace detrec::server
