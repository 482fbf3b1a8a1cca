#include "server/core/pools/pools.h"

namespace detrec::core {

std::optional<std::uint16_t> PortPool::allocate(OpenFileId file) {  // PORT-2, PORT-6
  const PortRange range = range_();
  const std::uint32_t count = range.last >= range.first ? range.last - range.first + 1u : 0;
  std::uint32_t port = next_;
  if (port < range.first || port > range.last) port = range.first;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto candidate = static_cast<std::uint16_t>(port);
    port = port == range.last ? range.first : port + 1;
    if (used_.contains(candidate)) continue;
    next_ = port;
    used_.insert(candidate);
    ports_[file] = candidate;
    return candidate;
  }
  return std::nullopt;
}

void PortPool::add(std::uint16_t port, OpenFileId file) {
  release(file);
  used_.insert(port);
  ports_[file] = port;
}

std::optional<std::uint16_t> PortPool::release(OpenFileId file) {
  const auto it = ports_.find(file);
  if (it == ports_.end()) return std::nullopt;
  const std::uint16_t port = it->second;
  ports_.erase(it);
  used_.erase(used_.find(port));
  return port;
}

SeenTime SeenTime::classify(std::int64_t seconds, std::int64_t nanoseconds) {
  if (nanoseconds == 0 && (seconds == 0 || seconds == 1))
    return {Kind::kCanonical, LogicalTime::seconds(static_cast<std::uint64_t>(seconds))};
  return {Kind::kHostSpecific, {}};
}

InodePool::Entry& InodePool::entry(std::uint64_t host) {
  const auto [it, fresh] = entries_.try_emplace(host, Entry{next_, std::nullopt});
  if (fresh) hosts_[next_++] = host;  // INODE-1
  return it->second;
}

VirtualInode InodePool::map(std::uint64_t host, SeenTime seen) {
  Entry& e = entry(host);
  if (!e.time && seen.kind != SeenTime::Kind::kNothing)
    e.time = seen.kind == SeenTime::Kind::kCanonical ? seen.canonical : epoch_;
  return {e.number, e.time.value_or(epoch_)};
}

bool InodePool::forget(std::uint64_t host) {
  const auto it = entries_.find(host);
  if (it == entries_.end()) return false;
  hosts_.erase(it->second.number);
  entries_.erase(it);
  return true;
}

VirtualInode InodePool::set_time(std::uint64_t host, LogicalTime time) {
  Entry& e = entry(host);
  e.time = time;
  return {e.number, time};
}

std::optional<std::uint64_t> InodePool::host_of(std::uint64_t number) const {
  const auto it = hosts_.find(number);
  if (it == hosts_.end()) return std::nullopt;
  return it->second;
}

// DEV-4: the numbers follow this host's order of observation, nothing is promised across hosts.
std::uint64_t DevicePool::map(std::uint64_t host) {
  return numbers_.try_emplace(host, numbers_.size() + 1).first->second;
}

void UnsupportedCalls::add(const std::string& name) {
  if (names_.insert(name).second && report_) report_(name);  // UNSUP-1
}

std::string UnsupportedCalls::format(const std::set<std::string>& names) {
  if (names.empty()) return {};
  std::string out = "unsupported system calls used: ";
  bool first = true;
  for (const std::string& name : names) {
    if (!first) out += ',';
    out += name;
    first = false;
  }
  return out;
}

}  // namespace detrec::core
