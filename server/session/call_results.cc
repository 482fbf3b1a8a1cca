#include "server/session/call_results.h"

#include <algorithm>
#include <cstring>

namespace detrec::server {
namespace {

constexpr std::uint64_t kLowest = 0x1'0000, kEnd = std::uint64_t{1} << 47;
constexpr std::size_t kMost = 4096;

}  // namespace

void CallResults::add(std::uint64_t value) {
  if (value < kLowest || value >= kEnd || reached_.size() >= kMost) return;
  const auto known = [&](const Range& r) { return value == r.begin; };
  if (std::none_of(reached_.begin(), reached_.end(), known)) reached_.push_back({value, value});
}

bool CallResults::claim(std::uint64_t address, std::uint64_t size) {
  for (Range& range : reached_) {
    if (address < range.begin || address > range.end) continue;
    range.end = std::max(range.end, address + size);
    return true;
  }
  return false;
}

void CallResults::follow(std::uint64_t address, std::span<const std::uint8_t> bytes) {
  for (std::size_t at = (8 - address % 8) % 8; at + 8 <= bytes.size(); at += 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    add(word);
  }
}

}  // namespace detrec::server
