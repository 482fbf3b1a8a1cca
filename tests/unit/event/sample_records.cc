#include "tests/unit/event/sample_records.h"

#include <cstring>

namespace detrec::event::testing {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace

void add_samples(RecordBuffer& to) {
  RecordHead head{{1}, {0}, {0}};
  wire::MappingBody mapping{};
  mapping.address = 0x400000;
  mapping.length = 0x2000;
  mapping.protection = 5;
  mapping.map_flags = 2;
  mapping.device = 0x801;
  mapping.inode = 77;
  mapping.content = wire::Content::kCapture;
  mapping.capture = 1;
  to.add_mapping(head, mapping, "/bin/sample");
  mapping = {};
  mapping.address = 0x7000'0000'0000;
  mapping.length = 0x1000;
  mapping.protection = 3;
  mapping.content = wire::Content::kData;
  to.add_mapping(head, mapping, "[stack]", bytes_of("sample\0argument\0"));

  wire::StartBody start{};
  for (std::uint64_t i = 0; i < 16; ++i) start.gpr[i] = i * 3;
  start.rflags = 0x202;
  start.pid = start.tid = 100;
  start.parent_pid = 1;
  start.brk_start = start.brk = 0x600000;
  start.limits[3][0] = 8u << 20;
  start.limits[3][1] = ~0ull;
  const std::string argv[] = {"sample", "an argument"};
  const std::string envp[] = {"HOME=/root"};
  head.pc.value = 0x401000;
  to.add_start(head, start, "/bin/sample", argv, envp);

  for (std::uint64_t i = 0; i < 3; ++i) add_read(to, i, 5);

  head.ticks.value = 500;
  head.pc.value = 0x402002;
  wire::SyscallBody call{};
  call.number = 1;  // write
  call.args[0] = 1;
  call.args[1] = 0x601000;
  call.args[2] = 6;
  call.result = 6;
  call.input_hash = 0x12345678;
  call.duration_ns = 1200;
  const RangeData out{{0x601000}, wire::Direction::kOut, bytes_of("hello\n")};
  to.add_syscall(head, call, {&out, 1});

  wire::SyscallBody failed{};
  failed.number = 257;  // openat
  failed.args[0] = static_cast<std::uint64_t>(-100);
  failed.args[1] = 0x601100;
  failed.result = -2;
  head.ticks.value = 510;
  to.add_syscall(head, failed);

  wire::InstructionBody tsc{};
  tsc.what = wire::InstructionKind::kRdtsc;
  tsc.values[0] = 1'000'000;
  head.ticks.value = 520;
  head.pc.value = 0x401234;
  to.add_instruction(head, tsc);

  wire::SignalBody signal{};
  signal.number = 10;
  signal.asynchronous = 1;
  signal.info[0] = 10;
  signal.register_hash = 0xbeef;
  head.ticks.value = 530;
  to.add_signal(head, signal);

  to.add_thread(head, {2, 101, 100, 0});
  head.ticks.value = 540;
  to.add_turn(head, {2, wire::TurnReason::kSlice, 0xfeed});
  RecordHead second{{2}, {7}, {0x401500}};
  to.add_exit(second, {wire::ExitCause::kThread, 0, 0});
  to.add_turn(second, {1, wire::TurnReason::kExits, 0});

  std::string large(70'000, 'x');
  wire::SyscallBody large_read{};
  large_read.args[1] = 0x700000;
  large_read.args[2] = large.size();
  large_read.result = static_cast<std::int64_t>(large.size());
  const RangeData in{{0x700000}, wire::Direction::kIn, bytes_of(large)};
  head.ticks.value = 600;
  head.pc.value = 0x402010;
  to.add_syscall(head, large_read, {&in, 1});
  head.ticks.value = 700;
  to.add_exit(head, {wire::ExitCause::kProcess, 3, 0xabcdef});
}

void add_read(RecordBuffer& to, std::uint64_t index, std::size_t size) {
  std::vector<std::byte> data(size, static_cast<std::byte>('a' + index % 26));
  wire::SyscallBody call{};
  call.args[0] = 3;
  call.args[1] = 0x7fff'0000;
  call.args[2] = size;
  call.result = static_cast<std::int64_t>(size);
  call.duration_ns = 300 + (index * 7919) % 64;
  const RangeData range{{0x7fff'0000}, wire::Direction::kIn, data};
  to.add_syscall({{1}, {100 + index * 6}, {0x402002}}, call, {&range, 1});
}

}  // namespace detrec::event::testing
