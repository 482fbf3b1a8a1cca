#include "storage/descriptor_table.h"

#include <cstring>
#include <limits>

#include "trace/syscalls/table.h"

namespace detrec::storage {
namespace {

// Numbers of unistd_64.h.
constexpr std::int32_t kClose = 3, kDup = 32, kDup2 = 33, kFcntl = 72, kDup3 = 292, kCloseRange = 436;
constexpr std::uint64_t kDupFd = 0, kDupFdCloexec = 1030;  // F_DUPFD, F_DUPFD_CLOEXEC

std::int64_t fd_of(std::uint64_t value) { return static_cast<std::int32_t>(value); }

/// What a new descriptor of a call stands for: the path that the record has, else "[name of the call]".
std::string path_of(const event::SyscallView& call, const syscalls::SyscallRow& row) {
  for (const event::RangeView range : call.ranges) {
    if (range.direction != wire::Direction::kPath) continue;
    const auto* text = reinterpret_cast<const char*>(range.data.data());
    return {text, strnlen(text, range.data.size())};
  }
  return "[" + std::string(row.name) + "]";
}

}  // namespace

Status DescriptorTable::put(std::int64_t process, std::int64_t fd, std::string path, EventNumber event) {
  Descriptors& open = processes_[process];
  if (const auto closed = close(process, open, fd, fd, event); !closed) return closed;
  open[fd] = {std::move(path), event};
  return Done{};
}

Status DescriptorTable::close(std::int64_t process, Descriptors& open, std::int64_t first, std::int64_t last,
                              EventNumber event) {
  auto at = open.lower_bound(first);
  while (at != open.end() && at->first <= last) {
    const auto done = emit_({process, at->first, at->second.path, at->second.since, event});
    if (!done) return done;
    at = open.erase(at);
  }
  return Done{};
}

Status DescriptorTable::copy(std::int64_t process, std::uint64_t from, std::int64_t to, EventNumber event) {
  const Descriptors& open = processes_[process];
  const auto found = open.find(fd_of(from));
  if (found == open.end() || found->first == to) return Done{};
  return put(process, to, found->second.path, event);
}

Status DescriptorTable::begin_process(std::int64_t process, std::int64_t parent, EventNumber event) {
  if (parent == 0) {
    processes_[process] = {{0, {"[stdin]", {}}}, {1, {"[stdout]", {}}}, {2, {"[stderr]", {}}}};
    return Done{};
  }
  Descriptors copy = processes_[parent];
  for (auto& [fd, open] : copy) open.since = event;
  processes_[process] = std::move(copy);
  return Done{};
}

Status DescriptorTable::end_process(std::int64_t process, EventNumber event) {
  const auto found = processes_.find(process);
  if (found == processes_.end()) return Done{};
  const auto done = close(process, found->second, std::numeric_limits<std::int64_t>::min(),
                          std::numeric_limits<std::int64_t>::max(), event);
  processes_.erase(found);
  return done;
}

Status DescriptorTable::add(std::int64_t process, const event::SyscallView& call, EventNumber event) {
  const wire::SyscallBody& body = *call.body;
  const syscalls::SyscallRow* row = syscalls::find(body.number);
  if (row == nullptr || body.result < 0) return Done{};
  switch (body.number) {
    case kClose:
      return close(process, processes_[process], fd_of(body.args[0]), fd_of(body.args[0]), event);
    case kCloseRange:
      if ((body.args[2] & 4) != 0) return Done{};  // CLOSE_RANGE_CLOEXEC closes nothing now
      return close(process, processes_[process], static_cast<std::uint32_t>(body.args[0]),
                   static_cast<std::uint32_t>(body.args[1]), event);
    case kDup:
    case kDup2:
    case kDup3:
      return copy(process, body.args[0], body.result, event);
    case kFcntl:
      if (body.args[1] == kDupFd || body.args[1] == kDupFdCloexec)
        return copy(process, body.args[0], body.result, event);
      return Done{};
    default:
      break;
  }
  if (row->creates == syscalls::Creates::kResult)
    return put(process, body.result, path_of(call, *row), event);
  if (row->creates == syscalls::Creates::kPair) {
    for (const event::RangeView range : call.ranges) {
      std::int32_t pair[2];
      if (range.address.value != body.args[row->creates_arg] || range.data.size() < sizeof pair) continue;
      std::memcpy(pair, range.data.data(), sizeof pair);
      for (const std::int32_t fd : pair) {
        if (const auto done = put(process, fd, path_of(call, *row), event); !done) return done;
      }
    }
  }
  return Done{};
}

Status DescriptorTable::finish() {
  for (const auto& [process, descriptors] : processes_) {
    for (const auto& [fd, open] : descriptors) {
      const auto done = emit_({process, fd, open.path, open.since, {}});
      if (!done) return done;
    }
  }
  processes_.clear();
  return Done{};
}

}  // namespace detrec::storage
