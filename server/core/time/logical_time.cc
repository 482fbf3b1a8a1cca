#include "server/core/time/logical_time.h"

#include <fmt/core.h>

namespace detrec::core {
namespace {

std::string grouped(const std::string& digits) {
  std::string out;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i != 0 && (digits.size() - i) % 3 == 0) out += '_';
    out += digits[i];
  }
  return out;
}

}  // namespace

std::string to_string(LogicalTime time) {
  if (time.ns <= 999'999'999) return grouped(fmt::format("{}", time.ns)) + "ns";
  return grouped(fmt::format("{}", time.whole_seconds())) + "." +
         grouped(fmt::format("{:09}", time.subsec_nanos())) + "s";
}

}  // namespace detrec::core
