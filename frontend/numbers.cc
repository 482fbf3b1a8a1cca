#include "frontend/numbers.h"

#include <charconv>
#include <limits>
#include <string>

namespace detrec::frontend {
namespace {

Error bad_number(std::string_view text, std::string_view why) {
  return Error{kExitOwnFailure, "'" + std::string(text) + "' " + std::string(why), {}};
}

/// The factor a suffix stands for; 1 if `last` is none.
std::uint64_t suffix_factor(char last) {
  switch (last) {
    case 'k':
      return 1'000;
    case 'M':
      return 1'000'000;
    case 'G':
      return 1'000'000'000;
    default:
      return 1;
  }
}

}  // namespace

Result<std::uint64_t> parse_number(std::string_view text) {
  std::string_view digits = text;
  int base = 10;
  if (digits.starts_with("0x") || digits.starts_with("0X")) {
    digits.remove_prefix(2);
    base = 16;
  }
  std::uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, code] = std::from_chars(digits.data(), end, value, base);
  if (code == std::errc::result_out_of_range) return bad_number(text, "is too large");
  if (code != std::errc{} || stop != end) return bad_number(text, "is not a number");
  return value;
}

Result<Ticks> parse_ticks(std::string_view text) {
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  const std::uint64_t factor = text.empty() || hexadecimal ? 1 : suffix_factor(text.back());
  const auto number = parse_number(factor == 1 ? text : text.substr(0, text.size() - 1));
  if (!number)
    return bad_number(text, number.error().message.ends_with("large") ? "is too large" : "is not a number");
  if (number.value() >= std::numeric_limits<std::uint64_t>::max() / factor)
    return bad_number(text, "is too large");
  return Ticks{number.value() * factor};
}

Result<StopPoint> parse_stop_point(std::string_view text) {
  const auto colon = text.find(':');
  const auto ticks = parse_ticks(text.substr(0, colon));
  if (!ticks) return ticks.error();
  StopPoint point{ticks.value(), {}};
  if (colon != std::string_view::npos) {
    const auto pc = parse_number(text.substr(colon + 1));
    if (!pc) return pc.error();
    if (pc.value() == 0) return bad_number(text, "names no pc: 0 is not an address code can be at");
    point.pc = GuestAddress{pc.value()};
  }
  return point;
}

Result<Slice> parse_slice(std::string_view text) {
  const auto plus = text.find('+');
  const auto ticks = parse_ticks(text.substr(0, plus));
  if (!ticks) return ticks.error();
  if (ticks.value().value == 0) return bad_number(text, "is no slice: it must last at least one tick");
  Slice slice{ticks.value(), 0};
  if (plus != std::string_view::npos) {
    const auto jitter = parse_ticks(text.substr(plus + 1));
    if (!jitter) return jitter.error();
    slice.jitter_instructions = jitter.value().value;
  }
  return slice;
}

}  // namespace detrec::frontend
