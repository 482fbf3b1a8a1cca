#include "server/core/sched/request.h"

#include <fmt/core.h>

namespace detrec::core {

std::vector<Signal> SignalSet::list() const {
  std::vector<Signal> out;
  for (int i = 1; i <= 64; ++i) {
    if (contains({i})) out.push_back({i});
  }
  return out;
}

Resource Resource::of(ResourceKind kind) {
  Resource r;
  r.kind = kind;
  return r;
}

Resource Resource::object(ResourceKind kind, std::uint64_t number, bool write) {
  Resource r = of(kind);
  r.number = number;
  r.write = write;
  return r;
}

Resource Resource::address_space(ProcessId process) {
  Resource r = of(ResourceKind::kAddressSpace);
  r.process = process;
  return r;
}

Resource Resource::exit(bool group, ProcessId process, AddressSpaceId as) {
  Resource r = of(ResourceKind::kExit);
  r.group = group;
  r.process = process;
  r.as = as;
  return r;
}

Resource Resource::parent_continue(ThreadId parent, ThreadId child) {
  Resource r = of(ResourceKind::kParentContinue);
  r.tid = parent;
  r.child = child;
  r.write = true;
  return r;
}

Resource Resource::sleep_until(LogicalTime t) {
  Resource r = of(ResourceKind::kSleepUntil);
  r.time = t;
  return r;
}

Resource Resource::polled_io(bool write) {
  Resource r = of(ResourceKind::kPolledIo);
  r.write = write;
  return r;
}

Resource Resource::external(ResourceKind kind, ExternalOpId op) {
  Resource r = of(kind);
  r.tid = op.tid;
  r.number = op.sequence;
  return r;
}

Resource Resource::vfork_block(ExternalOpId op, std::optional<std::uint64_t> chaos_draw) {
  Resource r = external(ResourceKind::kVforkBlock, op);
  r.write = chaos_draw.has_value();
  r.ticks = chaos_draw.value_or(0);
  return r;
}

Resource Resource::wait_child(ProcessId parent, WaitSpec spec) {
  Resource r = of(ResourceKind::kWaitChild);
  r.process = parent;
  r.wait = spec;
  return r;
}

Resource Resource::wait_physical(ProcessId child) {
  Resource r = of(ResourceKind::kWaitPhysicalChild);
  r.process = child;
  return r;
}

Resource Resource::priority_point(Priority priority, LogicalTime time, std::uint64_t ticks,
                                  std::uint64_t pc) {
  Resource r = of(ResourceKind::kPriorityPoint);
  r.priority = priority;
  r.time = time;
  r.ticks = ticks;
  r.pc = pc;
  return r;
}

Resource Resource::inbound_signal(Signal signal) {
  Resource r = of(ResourceKind::kInboundSignal);
  r.number = static_cast<std::uint64_t>(signal.value);
  return r;
}

Resource Resource::pending_signals(SignalSet signals) {
  Resource r = of(ResourceKind::kPendingSignals);
  r.signals = signals;
  return r;
}

std::string Resource::text() const {
  switch (kind) {
    case ResourceKind::kFileContents:
      return fmt::format("FileContents({})", number);
    case ResourceKind::kFileMetadata:
      return fmt::format("FileMetadata({})", number);
    case ResourceKind::kDirectoryContents:
      return fmt::format("DirectoryContents({})", number);
    case ResourceKind::kAddressSpace:
      return fmt::format("AddressSpace({})", process.value);
    case ResourceKind::kPath:
      return fmt::format("Path({})", number);
    case ResourceKind::kPathTree:
      return fmt::format("PathTree({})", number);
    case ResourceKind::kDevice:
      return fmt::format("Device({})", number);
    case ResourceKind::kExit:
      return fmt::format("Exit({}{})", process.value, group ? ", group" : "");
    case ResourceKind::kParentContinue:
      return fmt::format("ParentContinue({}, {})", tid.value, child.value);
    case ResourceKind::kSleepUntil:
      return time.indefinite() ? "SleepUntil(indefinite)" : fmt::format("SleepUntil({})", to_string(time));
    case ResourceKind::kPolledIo:
      return "PolledIo";
    case ResourceKind::kReplayYield:
      return "ReplayYield";
    case ResourceKind::kFutexWait:
      return "FutexWait";
    case ResourceKind::kExternalBlock:
      return fmt::format("ExternalBlock({}, {})", tid.value, number);
    case ResourceKind::kVforkBlock:
      return fmt::format("VforkBlock({}, {})", tid.value, number);
    case ResourceKind::kExternalDone:
      return fmt::format("ExternalDone({}, {})", tid.value, number);
    case ResourceKind::kVforkFailed:
      return fmt::format("VforkFailed({}, {})", tid.value, number);
    case ResourceKind::kWaitChild:
      return fmt::format("WaitChild(by {})", process.value);
    case ResourceKind::kWaitPhysicalChild:
      return fmt::format("WaitPhysicalChild({})", process.value);
    case ResourceKind::kPriorityPoint:
      return fmt::format("PriorityPoint({})", priority.value);
    case ResourceKind::kInboundSignal:
      return fmt::format("InboundSignal({})", number);
    case ResourceKind::kPendingSignals:
      return fmt::format("PendingSignals({:#x})", signals.bits);
    case ResourceKind::kYield:
      return "Yield";
    case ResourceKind::kOrderCheckpoint:
      return fmt::format("OrderCheckpoint({})", number);
  }
  return {};
}

std::string ResourceRequest::text() const {
  if (count == 0) return "nothing";
  std::string out = items[0].text();
  if (count > 1) out += " + " + items[1].text();
  if (attempt != 0) out += fmt::format(" attempt {}", attempt);
  return out;
}

}  // namespace detrec::core
