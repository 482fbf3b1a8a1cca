#include "tests/unit/storage/sample_run.h"

#include <cstring>
#include <string_view>

#include "trace/event/event_view.h"

namespace detrec::storage::testing {
namespace {

using event::RangeData;
using event::RecordHead;
using wire::Direction;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

class Run {
 public:
  explicit Run(event::RecordBuffer& buffer) : buffer_(buffer) {}

  void call(RecordHead head, std::int32_t number, std::initializer_list<std::uint64_t> args,
            std::int64_t result, std::initializer_list<RangeData> ranges = {}) {
    wire::SyscallBody body{};
    body.number = number;
    std::size_t index = 0;
    for (const std::uint64_t arg : args) body.args[index++] = arg;
    body.result = result;
    body.duration_ns = 500;
    const std::vector<RangeData> list(ranges);
    buffer_.add_syscall(head, body, list);
  }

  void signal(RecordHead head, std::int32_t number, bool asynchronous, std::int32_t code,
              std::uint64_t value) {
    wire::SignalBody body{};
    body.number = number;
    body.asynchronous = asynchronous ? 1 : 0;
    std::memcpy(body.info, &number, sizeof number);
    std::memcpy(body.info + 8, &code, sizeof code);
    std::memcpy(body.info + 16, &value, sizeof value);
    buffer_.add_signal(head, body);
  }

 private:
  event::RecordBuffer& buffer_;
};

}  // namespace

event::RecordBuffer sample_run() {
  constexpr std::uint64_t kCwd = static_cast<std::uint64_t>(-100);
  event::RecordBuffer buffer;
  Run run(buffer);
  const auto at = [](std::uint32_t thread, std::uint64_t ticks, std::uint64_t pc) {
    return RecordHead{{thread}, {ticks}, {pc}};
  };

  wire::MappingBody mapping{};
  mapping.address = 0x400000;
  mapping.length = 0x2000;
  mapping.protection = 5;
  mapping.content = wire::Content::kCapture;
  mapping.capture = 1;
  buffer.add_mapping(at(1, 0, 0), mapping, "/bin/prog");  // 1
  wire::StartBody start{};
  start.pid = start.tid = 100;
  start.parent_pid = 1;
  const std::string argv[] = {"prog", "a b"};
  const std::string envp[] = {"HOME=/root"};
  buffer.add_start(at(1, 0, 0x401000), start, "/bin/prog", argv, envp);  // 2

  run.call(at(1, 10, 0x401010), 257, {kCwd, 0x600000}, 3,
           {{{0x600000}, wire::Direction::kPath, bytes_of(std::string_view("/etc/data", 10))}});  // 3
  run.call(at(1, 20, 0x401020), 0, {3, 0x700000, 100}, 5,
           {{{0x700000}, Direction::kIn, bytes_of("12345")}});  // 4
  run.call(at(1, 30, 0x401010), 257, {kCwd, 0x600100}, -2);     // 5
  run.call(at(1, 40, 0x401030), 1, {1, 0x600200, 6}, 6,
           {{{0x600200}, Direction::kOut, bytes_of("hello\n")}});  // 6
  run.call(at(1, 50, 0x401030), 1, {2, 0x600300, 5}, 5,
           {{{0x600300}, Direction::kError, bytes_of("oops\n")}});               // 7
  run.call(at(1, 60, 0x401040), 1000, {1, 2}, -38);                              // 8
  buffer.add_thread(at(1, 70, 0x401050), {2, 101, 100, 0});                      // 9
  run.signal(at(1, 300, 0x401180), 10, true, 0, 77);                             // 10
  run.call(at(1, 310, 0x401060), 33, {3, 4}, 4);                                 // 11: dup2
  buffer.add_thread(at(1, 320, 0x401070), {3, 200, 200, 0});                     // 12
  buffer.add_turn(at(1, 500, 0x401100), {2, wire::TurnReason::kSlice, 0x1234});  // 13

  run.call(at(2, 10, 0x401020), 0, {4, 0x710000, 100}, 7,
           {{{0x710000}, Direction::kIn, bytes_of("1234567")}});  // 14
  run.call(at(2, 20, 0x401030), 1, {2, 0x600400, 6}, 6,
           {{{0x600400}, Direction::kError, bytes_of("again\n")}});        // 15
  buffer.add_exit(at(2, 40, 0x401300), {wire::ExitCause::kThread, 0, 0});  // 16
  buffer.add_turn(at(2, 40, 0x401300), {3, wire::TurnReason::kExits, 0});  // 17

  run.signal(at(3, 45, 0x401500), 11, false, 1, 0xdead0000);                       // 18
  buffer.add_turn(at(3, 50, 0x401510), {1, wire::TurnReason::kWaits, 0});          // 19
  buffer.add_turn(at(1, 800, 0x401200), {3, wire::TurnReason::kPreempted, 0x77});  // 20
  buffer.add_exit(at(3, 60, 0), {wire::ExitCause::kSignal, 11, 0});                // 21
  buffer.add_exit(at(1, 900, 0x401600), {wire::ExitCause::kProcess, 3, 0});        // 22
  return buffer;
}

}  // namespace detrec::storage::testing
