#include "frontend/divergence_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>

#include "trace/event/render/render.h"

namespace detrec::frontend {
namespace {

constexpr std::array<const char*, 16> kRegisters = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                                    "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};

std::string format_registers(const wire::Divergence& d) {
  std::string text;
  for (std::size_t i = 0; i < kRegisters.size(); ++i)
    text += fmt::format("  {:<3} {:016x}{}", kRegisters[i], d.gpr[i], i % 4 == 3 ? "\n" : "");
  return text + fmt::format("  rip {:016x}  flags {:x}\n", d.pc, d.rflags);
}

std::string format_code(const wire::Divergence& d) {
  std::string text = fmt::format("  code at {:#x}:", d.pc);
  for (const std::uint8_t byte : d.code) text += fmt::format(" {:02x}", byte);
  return text + "\n";
}

/// How the engine separates what differs from what the program was doing.
constexpr std::string_view kDoing = "; doing: ";
constexpr std::size_t kShownEvents = 5;

struct Neighbours {
  std::string expected;            ///< the event that the replay should have met
  std::deque<std::string> thread;  ///< the last events of the thread before it
};

/// Reads events up to and with `last + 1`, from `from` on.
event::Result<Neighbours> read_neighbours(storage::TraceReader& reader, std::uint64_t from,
                                          std::uint64_t last, std::uint32_t thread) {
  Neighbours found;
  auto cursor = reader.events({from});
  if (!cursor) return cursor.error();
  for (;;) {
    const auto next = cursor.value().next();
    if (!next) return next.error();
    if (!next.value()) return found;
    const event::DecodedRecord& record = *next.value();
    if (record.view.kind() == wire::EventKind::kData) continue;
    if (record.number.value > last) {
      found.expected = event::render_line(record);
      return found;
    }
    if (record.view.thread().value != thread) continue;
    found.thread.push_back(event::render_line(record));
    if (found.thread.size() > kShownEvents) found.thread.pop_front();
  }
}

std::string format_neighbours(storage::TraceReader& reader, const wire::Divergence& d) {
  // A thread may have been silent for long: look back in growing steps.
  const std::uint64_t first = std::max<std::uint64_t>(reader.first_event().value, 1);
  Neighbours found;
  for (std::uint64_t back = 1000;; back *= 10) {
    const std::uint64_t from = d.event > back + first ? d.event - back : first;
    auto read = read_neighbours(reader, from, d.event, d.thread);
    if (!read) return fmt::format("  (the trace cannot be read: {})\n", to_string(read.error()));
    found = std::move(read.value());
    if (found.thread.size() == kShownEvents || from == first) break;
  }
  std::string text =
      fmt::format("  recorded next: {}\n", found.expected.empty() ? "(nothing more)" : found.expected);
  text += fmt::format("  last events of thread {}:\n", d.thread);
  for (const std::string& line : found.thread) text += fmt::format("    {}\n", line);
  return text;
}

}  // namespace

std::string format_divergence(const wire::Divergence& d, std::string_view message,
                              storage::TraceReader& reader) {
  const auto doing = message.find(kDoing);
  std::string text =
      fmt::format("detrec: the replay differs from the recording at {}:{}:{:#x}, thread {}\n  {}\n", d.event,
                  d.ticks, d.pc, d.thread, message.substr(0, doing));
  if (doing != std::string_view::npos)
    text += fmt::format("  replayed:      {}:{}:{:#x} {} {}\n", d.event + 1, d.ticks, d.pc, d.thread,
                        message.substr(doing + kDoing.size()));
  return text + format_neighbours(reader, d) + "  registers:\n" + format_registers(d) + format_code(d);
}

}  // namespace detrec::frontend
