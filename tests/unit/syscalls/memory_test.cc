// The rules for memory, applied to made-up memory.
#include "trace/syscalls/memory.h"

#include <asm/unistd_64.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace detrec::syscalls {
namespace {

using Ranges = std::vector<std::pair<std::uint64_t, std::uint64_t>>;  // address, size

/// Guest memory of a few pieces.
class FakeMemory {
 public:
  template <typename T>
  void put(std::uint64_t address, const T& value) {
    std::vector<std::uint8_t> bytes(sizeof(T));
    std::memcpy(bytes.data(), &value, sizeof(T));
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes_[address + i] = bytes[i];
  }
  void put_text(std::uint64_t address, const std::string& text) {
    for (std::size_t i = 0; i <= text.size(); ++i) put(address + i, i < text.size() ? text[i] : '\0');
    for (std::uint64_t i = address + text.size(); i % 64 != 0; ++i) bytes_.try_emplace(i, 0);
  }
  bool operator()(std::uint64_t address, void* to, std::size_t size) const {
    for (std::size_t i = 0; i < size; ++i) {
      const auto byte = bytes_.find(address + i);
      if (byte == bytes_.end()) return false;
      static_cast<std::uint8_t*>(to)[i] = byte->second;
    }
    return true;
  }

 private:
  std::map<std::uint64_t, std::uint8_t> bytes_;
};

struct Enumerated {
  Ranges ranges;
  bool complete = false;
};

using Args = std::uint64_t[kMaxArgs];

Enumerated written(int nr, const Args& args, std::int64_t result, FakeMemory& memory,
                   const Before* before = nullptr) {
  Enumerated found;
  auto visit = [&](const Range& range) { found.ranges.emplace_back(range.address, range.size); };
  found.complete = for_each_written(nr, args, result, before, reader_of(memory), visitor_of(visit));
  return found;
}

Enumerated writable(int nr, const Args& args, FakeMemory& memory, const Before* before = nullptr) {
  Enumerated found;
  auto visit = [&](const Range& range) { found.ranges.emplace_back(range.address, range.size); };
  found.complete = for_each_writable(nr, args, reader_of(memory), visitor_of(visit), before);
  return found;
}

Enumerated read_by(int nr, const Args& args, FakeMemory& memory) {
  Enumerated found;
  auto visit = [&](const Range& range) { found.ranges.emplace_back(range.address, range.size); };
  found.complete = for_each_read(nr, args, reader_of(memory), visitor_of(visit));
  return found;
}

struct Iovec {
  std::uint64_t address, size;
};
struct Message {
  std::uint64_t name = 0;
  std::uint32_t name_length = 0, padding = 0;
  std::uint64_t iov = 0, iov_count = 0, control = 0, control_length = 0;
  std::uint32_t flags = 0, more_padding = 0;
};

TEST(Written, ReadIsAsLongAsItsResult) {
  FakeMemory memory;
  const Args args = {3, 0x1000, 100};
  EXPECT_EQ(written(__NR_read, args, 40, memory).ranges, (Ranges{{0x1000, 40}}));
  EXPECT_EQ(written(__NR_read, args, 0, memory).ranges, Ranges{});
  EXPECT_EQ(written(__NR_read, args, -EINTR, memory).ranges, Ranges{});
  EXPECT_EQ(writable(__NR_read, args, memory).ranges, (Ranges{{0x1000, 100}}));
}

TEST(Written, ResultsBeyondTheBufferAreCut) {
  FakeMemory memory;
  const Args truncated = {3,    0x1000, 5,
                          0x20, 0,      0};  // recvfrom with MSG_TRUNC: result is the datagram's size
  EXPECT_EQ(written(__NR_recvfrom, truncated, 400, memory).ranges, (Ranges{{0x1000, 5}}));
}

TEST(Written, UpperHalvesOf32BitLengthsAreIgnored) {
  FakeMemory memory;
  const Args args = {3, 0x1000, 0xdead00000003, 0};
  EXPECT_EQ(writable(__NR_epoll_wait, args, memory).ranges, (Ranges{{0x1000, 36}}));
}

TEST(Written, NothingThroughNull) {
  FakeMemory memory;
  const Args args = {0, 0, 0, 0, 0, 0};
  for (std::size_t i = 0; i < row_count(); ++i) {
    EXPECT_EQ(written(row_at(i).number, args, 0, memory).ranges, Ranges{}) << row_at(i).name;
    EXPECT_EQ(writable(row_at(i).number, args, memory).ranges, Ranges{}) << row_at(i).name;
  }
}

TEST(Written, IovecsAreFilledInOrder) {
  FakeMemory memory;
  memory.put(0x100, Iovec{0x1000, 10});
  memory.put(0x110, Iovec{0x2000, 0});
  memory.put(0x120, Iovec{0x3000, 50});
  const Args args = {3, 0x100, 3};
  EXPECT_EQ(written(__NR_readv, args, 25, memory).ranges, (Ranges{{0x1000, 10}, {0x3000, 15}}));
  EXPECT_EQ(writable(__NR_readv, args, memory).ranges, (Ranges{{0x1000, 10}, {0x3000, 50}}));
  EXPECT_EQ(read_by(__NR_readv, args, memory).ranges, (Ranges{{0x100, 48}}));
  EXPECT_EQ(read_by(__NR_writev, args, memory).ranges, (Ranges{{0x100, 48}, {0x1000, 10}, {0x3000, 50}}));
}

TEST(Written, UnreadableIovecsAreReported) {
  FakeMemory memory;
  const Args args = {3, 0x100, 3};
  EXPECT_FALSE(writable(__NR_readv, args, memory).complete);
}

TEST(Written, AddressesAreCutToTheCapacityOfBefore) {
  FakeMemory memory;
  memory.put(0x200, std::uint32_t{8});
  const Args args = {3, 0x1000, 0x200};
  EXPECT_EQ(writable(__NR_getsockname, args, memory).ranges, (Ranges{{0x1000, 8}, {0x200, 4}}));
  Before before{};
  ASSERT_TRUE(capture_before(__NR_getsockname, args, reader_of(memory), before));
  memory.put(0x200, std::uint32_t{110});  // the kernel's answer: the whole length
  EXPECT_EQ(written(__NR_getsockname, args, 0, memory, &before).ranges, (Ranges{{0x1000, 8}, {0x200, 4}}));
  EXPECT_EQ(written(__NR_getsockname, args, 0, memory).ranges, (Ranges{{0x1000, 110}, {0x200, 4}}));
}

TEST(Written, ReceivedMessage) {
  FakeMemory memory;
  Message message;
  message.name = 0x3000;
  message.name_length = 16;
  message.iov = 0x100;
  message.iov_count = 1;
  message.control = 0x4000;
  message.control_length = 64;
  memory.put(0x500, message);
  memory.put(0x100, Iovec{0x1000, 100});
  const Args args = {3, 0x500, 0};
  EXPECT_EQ(writable(__NR_recvmsg, args, memory).ranges,
            (Ranges{{0x3000, 16}, {0x508, 4}, {0x1000, 100}, {0x4000, 64}, {0x528, 8}, {0x530, 4}}));
  Before before{};
  ASSERT_TRUE(capture_before(__NR_recvmsg, args, reader_of(memory), before));
  message.name_length = 28;     // longer than there was room
  message.control_length = 48;  // two messages: 20 bytes and a gap of 4, 24 bytes
  memory.put(0x500, message);
  memory.put(0x4000, std::uint64_t{20});
  memory.put(0x4018, std::uint64_t{24});
  EXPECT_EQ(
      written(__NR_recvmsg, args, 30, memory, &before).ranges,
      (Ranges{{0x3000, 16}, {0x508, 4}, {0x1000, 30}, {0x4000, 20}, {0x4018, 24}, {0x528, 8}, {0x530, 4}}));
}

TEST(Written, SeveralMessages) {
  FakeMemory memory;
  for (std::uint64_t i = 0; i < 3; ++i) {
    Message message;
    message.iov = 0x100 + 16 * i;
    message.iov_count = 1;
    memory.put(0x500 + 64 * i, message);
    memory.put(0x500 + 64 * i + 56, static_cast<std::uint32_t>(10 + i));
    memory.put(0x100 + 16 * i, Iovec{0x1000 * (i + 1), 100});
  }
  const Args args = {3, 0x500, 3, 0, 0};
  EXPECT_EQ(written(__NR_recvmmsg, args, 2, memory).ranges, (Ranges{{0x1000, 10},
                                                                    {0x528, 8},
                                                                    {0x530, 4},
                                                                    {0x538, 4},
                                                                    {0x2000, 11},
                                                                    {0x568, 8},
                                                                    {0x570, 4},
                                                                    {0x578, 4}}));
  EXPECT_EQ(written(__NR_sendmmsg, args, 2, memory).ranges, (Ranges{{0x538, 4}, {0x578, 4}}));
}

TEST(Written, PollWritesReventsOnly) {
  FakeMemory memory;
  const Args args = {0x1000, 2, 0};
  const Ranges revents{{0x1006, 2}, {0x100e, 2}};
  EXPECT_EQ(written(__NR_poll, args, 1, memory).ranges, revents);
  EXPECT_EQ(written(__NR_poll, args, -EINTR, memory).ranges, revents);
  EXPECT_EQ(written(__NR_poll, args, -EINVAL, memory).ranges, Ranges{});
}

TEST(Written, SetsAreWholeWords) {
  FakeMemory memory;
  const Args args = {65, 0x1000, 0, 0x2000, 0};
  EXPECT_EQ(written(__NR_select, args, 1, memory).ranges, (Ranges{{0x1000, 16}, {0x2000, 16}}));
  const Args negative = {0xffffffff, 0x1000, 0, 0, 0};
  EXPECT_EQ(writable(__NR_select, negative, memory).ranges, Ranges{});
}

TEST(Written, RemainingTimeOnlyWhenInterrupted) {
  FakeMemory memory;
  const Args relative = {1, 0, 0x1000, 0x2000};
  EXPECT_EQ(written(__NR_clock_nanosleep, relative, 0, memory).ranges, Ranges{});
  EXPECT_EQ(written(__NR_clock_nanosleep, relative, -EINTR, memory).ranges, (Ranges{{0x2000, 16}}));
  const Args absolute = {1, 1, 0x1000, 0x2000};
  EXPECT_EQ(written(__NR_clock_nanosleep, absolute, -EINTR, memory).ranges, Ranges{});
}

TEST(Written, ByIoctlRequest) {
  FakeMemory memory;
  const Args winsize = {0, 0x5413, 0x1000};
  EXPECT_EQ(written(__NR_ioctl, winsize, 0, memory).ranges, (Ranges{{0x1000, 8}}));
  const Args name_of_device = {0, 0x81004506, 0x1000};  // EVIOCGNAME(256), whose result is the length
  EXPECT_EQ(written(__NR_ioctl, name_of_device, 12, memory).ranges, (Ranges{{0x1000, 12}}));
  EXPECT_EQ(writable(__NR_ioctl, name_of_device, memory).ranges, (Ranges{{0x1000, 256}}));
  const Args unknown = {0, 0xc0287163, 0x1000};  // _IOWR('q', 99, 40 bytes)
  EXPECT_EQ(written(__NR_ioctl, unknown, 0, memory).ranges, (Ranges{{0x1000, 40}}));
  EXPECT_EQ(read_by(__NR_ioctl, unknown, memory).ranges, (Ranges{{0x1000, 40}}));
  const Args write_only = {0, 0x40287163, 0x1000};
  EXPECT_EQ(written(__NR_ioctl, write_only, 0, memory).ranges, Ranges{});
}

TEST(Written, ExtentsThatWereFilledIn) {
  FakeMemory memory;
  memory.put(0x1000 + 20, std::uint32_t{2});
  memory.put(0x1000 + 24, std::uint32_t{10});
  const Args args = {3, 0xc020660b, 0x1000};
  EXPECT_EQ(written(__NR_ioctl, args, 0, memory).ranges, (Ranges{{0x1000, 32}, {0x1020, 112}}));
  EXPECT_EQ(writable(__NR_ioctl, args, memory).ranges, (Ranges{{0x1000, 32}, {0x1020, 560}}));
}

TEST(Written, SemaphoresAreCountedByTheCaller) {
  FakeMemory memory;
  const Args args = {1, 0, 13, 0x1000};
  Before before{};
  before.external_count = 5;
  EXPECT_EQ(written(__NR_semctl, args, 0, memory, &before).ranges, (Ranges{{0x1000, 10}}));
}

TEST(Written, SizesDoNotOverflow) {
  FakeMemory memory;
  const Args args = {0, ~std::uint64_t{0}, 0x1000, 0x2000, 0x3000, 0};
  for (const Range& range : [&] {
         std::vector<Range> ranges;
         auto visit = [&](const Range& each) { ranges.push_back(each); };
         for_each_writable(__NR_move_pages, args, reader_of(memory), visitor_of(visit));
         return ranges;
       }()) {
    EXPECT_GT(range.size, std::uint64_t{1} << 40);
  }
}

TEST(Read, StringsEndWithTheirNul) {
  FakeMemory memory;
  memory.put_text(0x1030, "/a/path/that/crosses/a/chunk/boundary");
  const Args args = {0x1030, 0};
  EXPECT_EQ(read_by(__NR_open, args, memory).ranges, (Ranges{{0x1030, 38}}));
}

TEST(Read, UnterminatedStringsEndWithTheMemory) {
  FakeMemory memory;
  for (std::uint64_t i = 0; i < 128; ++i) memory.put(0x1000 + i, 'x');
  const Args args = {0x1000, 0};
  const Enumerated found = read_by(__NR_open, args, memory);
  EXPECT_FALSE(found.complete);
  EXPECT_EQ(found.ranges, (Ranges{{0x1000, 128}}));
}

TEST(Read, ArgumentVectors) {
  FakeMemory memory;
  memory.put_text(0x1000, "/bin/true");
  memory.put_text(0x2000, "one");
  memory.put_text(0x2040, "three");
  memory.put(0x100, std::uint64_t{0x2000});
  memory.put(0x108, std::uint64_t{0x2040});
  memory.put(0x110, std::uint64_t{0});
  const Args args = {0x1000, 0x100, 0};
  EXPECT_EQ(read_by(__NR_execve, args, memory).ranges,
            (Ranges{{0x1000, 10}, {0x2000, 4}, {0x2040, 6}, {0x100, 24}}));
}

TEST(Read, UnknownCallsAreReported) {
  FakeMemory memory;
  const Args args = {};
  EXPECT_FALSE(read_by(1000, args, memory).complete);
  EXPECT_FALSE(written(1000, args, 0, memory).complete);
}

TEST(Callables, TheShortFormTakesLambdas) {
  const Args args = {3, 0x1000, 100};
  std::uint64_t total = 0;
  EXPECT_TRUE(for_each_written(
      __NR_read, args, 60, [](std::uint64_t, void*, std::size_t) { return false; },
      [&](const Range& range) { total += range.size; }));
  EXPECT_EQ(total, 60u);
}

}  // namespace
}  // namespace detrec::syscalls
