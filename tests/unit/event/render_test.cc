#include "trace/event/render/render.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/unit/event/random_records.h"
#include "tests/unit/event/sample_records.h"

namespace detrec::event {
namespace {

std::vector<std::string> lines_of(const RecordBuffer& buffer, std::string (*render)(const DecodedRecord&)) {
  std::vector<std::string> lines;
  EventNumber number;
  for_each_record(buffer.bytes(), [&](std::span<const std::byte> record) {
    const auto view = parse_record(record);
    ASSERT_TRUE(view.ok());
    if (view.value().kind() != wire::EventKind::kData) ++number.value;
    lines.push_back(render({number, {5}, record, view.value()}));
  });
  return lines;
}

TEST(Render, LinesOfTheSamples) {
  RecordBuffer buffer;
  testing::add_samples(buffer);
  const auto lines = lines_of(buffer, render_line);
  const std::vector<std::string> expected = {
      "1:0:0x0 1 mapping 0x400000-0x402000 r-x /bin/sample capture 1 from 0x0",
      "2:0:0x0 1 mapping 0x700000000000-0x700000001000 rw- [stack] data \"sample\"",
      "3:0:0x401000 1 start /bin/sample pid 100 parent 1: sample \"an argument\"",
      "4:100:0x402002 1 syscall read(3, 0x7fff0000, 5) = 5 <in 0x7fff0000+5 \"aaaaa\">",
      "5:106:0x402002 1 syscall read(3, 0x7fff0000, 5) = 5 <in 0x7fff0000+5 \"bbbbb\">",
      "6:112:0x402002 1 syscall read(3, 0x7fff0000, 5) = 5 <in 0x7fff0000+5 \"ccccc\">",
      "7:500:0x402002 1 syscall write(1, 0x601000, 6) = 6 <stdout 0x601000+6 \"hello\\n\">",
      "8:510:0x402002 1 syscall openat(AT_FDCWD, 0x601100, 0x0, 0) = -1 ENOENT",
      "9:520:0x401234 1 instruction rdtsc = 0xf4240 0x0 0x0 0x0",
      "10:530:0x401234 1 signal SIGUSR1 asynchronous code 0",
      "11:530:0x401234 1 thread 2 tid 101 pid 100",
      "12:540:0x401234 1 turn to 2 (slice)",
      "13:7:0x401500 2 exit thread status 0",
      "14:7:0x401500 2 turn to 1 (exits)",
      "15:600:0x402010 1 syscall read(0, 0x700000, 70000) = 70000",
      "15:600:0x402010 1 data <in 0x700000+65536 \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"...>",
      "15:600:0x402010 1 data <in 0x710000+4464 \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"...>",
      "16:700:0x402010 1 exit process status 3",
  };
  EXPECT_EQ(lines, expected);
}

std::string line_of_call(wire::SyscallBody body, std::span<const RangeData> ranges = {}) {
  RecordBuffer buffer;
  buffer.add_syscall({}, body, ranges);
  const std::string line = lines_of(buffer, render_line).front();
  return line.substr(line.find("syscall ") + 8);
}

TEST(Render, ArgumentsByTheirKind) {
  EXPECT_EQ(line_of_call({9, 0, {0, 4096, 3, 0x22, ~0ull, 0}, 0x7f0000001000, 0, 0, 0}),
            "mmap(0x0, 4096, 0x3, 0x22, -1, 0) = 0x7f0000001000");
  EXPECT_EQ(line_of_call({62, 0, {100, 9, 0, 0, 0, 0}, -1, 0, 0, 0}), "kill(100, SIGKILL) = -1 EPERM");
  EXPECT_EQ(line_of_call({16, 0, {1, 0x5401, 0x1000, 0, 0, 0}, -25, 0, 0, 0}).substr(0, 14),
            "ioctl(1, TCGET");
  EXPECT_EQ(line_of_call({35, 0, {0x1000, 0, 0, 0, 0, 0}, -516, 0, 0, 0}),
            "nanosleep(0x1000, NULL) = ? ERESTART_RESTARTBLOCK");
  EXPECT_EQ(line_of_call({1000, 0, {1, 2, 3, 4, 5, 6}, -38, 0, 0, 0}),
            "syscall_1000(0x1, 0x2, 0x3, 0x4, 0x5, 0x6) = -1 ENOSYS");
  const std::string_view path("/etc/passwd", 12);
  const RangeData range{{0x1000}, wire::Direction::kPath, std::as_bytes(std::span(path.data(), path.size()))};
  EXPECT_EQ(line_of_call({257, 0, {static_cast<std::uint64_t>(-100), 0x1000, 0x80000, 0, 0, 0}, 3, 0, 0, 0},
                         {&range, 1}),
            "openat(AT_FDCWD, 0x1000 \"/etc/passwd\", 0x80000, 0) = 3");
}

TEST(Render, NothingReachesTheTerminalUnescaped) {
  testing::RandomRecords random(21);
  RecordBuffer buffer;
  for (int i = 0; i < 400; ++i) random.add(buffer);
  wire::MappingBody body{};
  body.length = 4096;
  buffer.add_mapping({}, body, "\x1b]0;title\x07 \xff\n");
  const std::string argv[] = {"\x1b[31m", "\xc3\xa4"};
  buffer.add_start({}, {}, "/bin/\x1b", argv, argv);
  for (auto* render : {render_line, render_json}) {
    for (const std::string& line : lines_of(buffer, render)) {
      for (const char c : line) ASSERT_TRUE(c >= ' ' && c <= '~') << line;
    }
  }
}

TEST(Render, JsonIsJson) {
  RecordBuffer buffer;
  testing::add_samples(buffer);
  const auto lines = lines_of(buffer, render_json);
  const auto read = nlohmann::json::parse(lines[3]);
  EXPECT_EQ(read["event"], 4);
  EXPECT_EQ(read["pc"], "0x402002");
  EXPECT_EQ(read["kind"], "syscall");
  EXPECT_EQ(read["name"], "read");
  EXPECT_EQ(read["args"][0], "0x3");
  EXPECT_EQ(read["result"], 5);
  EXPECT_EQ(read["ranges"][0]["data"], "6161616161");
  const auto open = nlohmann::json::parse(lines[7]);
  EXPECT_EQ(open["error"], "ENOENT");
  for (const auto& line : lines) EXPECT_TRUE(nlohmann::json::accept(line)) << line;
}

}  // namespace
}  // namespace detrec::event
