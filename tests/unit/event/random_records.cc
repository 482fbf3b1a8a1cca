#include "tests/unit/event/random_records.h"

#include <algorithm>

namespace detrec::event::testing {

std::vector<std::byte> RandomRecords::data(std::size_t size) {
  std::vector<std::byte> bytes(size);
  const bool dull = often();
  for (std::byte& b : bytes) b = static_cast<std::byte>(dull ? below(4) : below(256));
  return bytes;
}

RecordHead RandomRecords::head() {
  RecordHead head;
  head.thread.value =
      static_cast<std::uint32_t>(often() ? 1 + below(3) : std::max<std::uint64_t>(1, number() >> 32));
  ticks_ += often() ? 17 : number();
  head.ticks.value = ticks_;
  head.pc.value = often() ? 0x401000 + 16 * below(8) : number();
  return head;
}

void RandomRecords::add_syscall(RecordBuffer& to) {
  wire::SyscallBody body{};
  body.number = static_cast<std::int32_t>(often() ? below(4) : number());
  for (auto& arg : body.args) arg = often() ? below(3) * 4096 : number();
  body.result = static_cast<std::int64_t>(often() ? below(64) : number());
  if (!often()) body.result = -body.result;
  body.input_hash = static_cast<std::uint32_t>(often() ? 0 : number());
  body.duration_ns = often() ? 300 + below(100) : number();
  std::vector<std::vector<std::byte>> contents;
  std::vector<RangeData> ranges;
  const std::uint64_t count = often() ? below(3) : below(40);
  contents.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t limit = below(100) == 0 ? 200'000 : 300;
    const std::uint64_t size = often() ? static_cast<std::uint64_t>(body.result) : below(limit);
    contents.push_back(data(std::min(size, limit)));
    RangeData range;
    range.address.value = often() ? body.args[below(6)] : number() >> 20;
    if (range.address.value > ~std::uint64_t{0} - (1u << 20)) range.address.value -= 1u << 20;
    range.direction = often() ? wire::Direction::kIn : static_cast<wire::Direction>(below(4));
    range.data = contents.back();
    ranges.push_back(range);
  }
  to.add_syscall(head(), body, ranges);
}

void RandomRecords::add_mapping(RecordBuffer& to) {
  wire::MappingBody body{};
  body.address = below(1u << 20) * 4096;
  body.length = (1 + below(100)) * 4096;
  body.protection = static_cast<std::uint32_t>(below(8));
  body.map_flags = static_cast<std::uint32_t>(number());
  body.file_offset = number();
  body.device = number();
  body.inode = number();
  body.content = static_cast<wire::Content>(below(3));
  body.capture = body.content == wire::Content::kCapture ? 1 + static_cast<std::uint32_t>(below(9)) : 0;
  const auto content =
      data(body.content == wire::Content::kData ? below(below(4) == 0 ? 150'000 : 2'000) : 0);
  to.add_mapping(head(), body, std::string(below(80), 'n'), content);
}

void RandomRecords::add_start(RecordBuffer& to) {
  wire::StartBody body{};
  for (auto& value : body.gpr) value = number();
  body.rflags = number();
  body.pid = static_cast<std::int32_t>(below(32768));
  for (auto& limit : body.limits) limit[0] = limit[1] = number();
  std::vector<std::string> argv(below(9));
  std::vector<std::string> envp(below(9));
  for (auto* list : {&argv, &envp}) {
    for (auto& text : *list) text.assign(below(300), 'a');
  }
  to.add_start(head(), body, "/bin/" + std::string(below(20), 'p'), argv, envp);
}

void RandomRecords::add_small(RecordBuffer& to) {
  switch (below(5)) {
    case 0: {
      wire::InstructionBody body{};
      body.what = static_cast<wire::InstructionKind>(1 + below(7));
      for (auto& value : body.values) value = often() ? ticks_ * 3 : number();
      return to.add_instruction(head(), body);
    }
    case 1: {
      wire::SignalBody body{};
      body.number = static_cast<std::int32_t>(1 + below(64));
      body.asynchronous = static_cast<std::uint32_t>(below(2));
      for (auto& byte : body.info) byte = static_cast<std::uint8_t>(below(256));
      body.register_hash = number();
      return to.add_signal(head(), body);
    }
    case 2:
      return to.add_turn(head(), {static_cast<std::uint32_t>(1 + below(5)),
                                  static_cast<wire::TurnReason>(1 + below(5)), often() ? 0 : number()});
    case 3:
      return to.add_thread(head(),
                           {static_cast<std::uint32_t>(1 + below(5)), static_cast<std::int32_t>(number()),
                            static_cast<std::int32_t>(number()), 0});
    default:
      return to.add_exit(head(), {static_cast<wire::ExitCause>(1 + below(4)),
                                  static_cast<std::int32_t>(number()), number()});
  }
}

void RandomRecords::add(RecordBuffer& to) {
  const std::uint64_t what = below(100);
  if (what < 70) return add_syscall(to);
  if (what < 76) return add_mapping(to);
  if (what < 78) return add_start(to);
  return add_small(to);
}

}  // namespace detrec::event::testing
