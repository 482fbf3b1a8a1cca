#include "trace/event/event_view.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "tests/unit/event/random_records.h"
#include "tests/unit/event/sample_records.h"

namespace detrec::event {
namespace {

using testing::RandomRecords;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

/// The message of the error that a changed record leads to; empty when it is accepted.
std::string refusal(RecordBuffer& buffer, const std::function<void(std::byte*)>& change) {
  std::vector<std::byte> copy(buffer.bytes().begin(), buffer.bytes().end());
  change(copy.data());
  const auto view = parse_record(copy);
  return view ? std::string() : view.error().message;
}

template <typename T>
std::function<void(std::byte*)> set(std::size_t offset, T value) {
  return [=](std::byte* bytes) { std::memcpy(bytes + offset, &value, sizeof value); };
}

TEST(EventView, SeesACallAndItsRanges) {
  RecordBuffer buffer;
  wire::SyscallBody body{};
  body.number = 19;
  body.result = 8;
  const RangeData ranges[] = {{{0x1000}, wire::Direction::kIn, bytes_of("abc")},
                              {{0x2000}, wire::Direction::kOut, bytes_of("defgh")}};
  buffer.add_syscall({{4}, {55}, {0x401000}}, body, ranges);
  const auto view = parse_record(buffer.bytes());
  ASSERT_TRUE(view.ok()) << to_string(view.error());
  EXPECT_EQ(view.value().kind(), wire::EventKind::kSyscall);
  EXPECT_EQ(view.value().thread().value, 4u);
  EXPECT_EQ(view.value().ticks().value, 55u);
  EXPECT_EQ(view.value().pc().value, 0x401000u);
  EXPECT_FALSE(view.value().more_data());
  const auto* call = view.value().as<SyscallView>();
  ASSERT_NE(call, nullptr);
  EXPECT_EQ(call->body->number, 19);
  ASSERT_EQ(call->ranges.size(), 2u);
  auto range = call->ranges.begin();
  EXPECT_EQ((*range).address.value, 0x1000u);
  EXPECT_EQ((*range).data.size(), 3u);
  ++range;
  EXPECT_EQ((*range).direction, wire::Direction::kOut);
  EXPECT_EQ(std::memcmp((*range).data.data(), "defgh", 5), 0);
}

TEST(EventView, SeesTheStringsOfAStart) {
  RecordBuffer buffer;
  const std::string argv[] = {"cat", "", "file"};
  const std::string envp[] = {"A=1"};
  buffer.add_start({}, {}, "/bin/cat", argv, envp);
  const auto view = parse_record(buffer.bytes());
  ASSERT_TRUE(view.ok()) << to_string(view.error());
  const auto* start = view.value().as<StartView>();
  ASSERT_NE(start, nullptr);
  EXPECT_EQ(start->path, "/bin/cat");
  std::vector<std::string> seen;
  start->argv.for_each([&](std::string_view text) { seen.emplace_back(text); });
  EXPECT_EQ(seen, (std::vector<std::string>{"cat", "", "file"}));
  seen.clear();
  start->envp.for_each([&](std::string_view text) { seen.emplace_back(text); });
  EXPECT_EQ(seen, (std::vector<std::string>{"A=1"}));
}

TEST(EventView, LargeDataGoesOnInDataRecords) {
  RecordBuffer buffer;
  const std::string text(200'000, 'z');
  const RangeData range{{0x5000}, wire::Direction::kIn, bytes_of(text)};
  buffer.add_syscall({}, {}, {&range, 1});
  std::size_t records = 0;
  std::size_t data = 0;
  bool more = false;
  for_each_record(buffer.bytes(), [&](std::span<const std::byte> record) {
    const auto view = parse_record(record);
    ASSERT_TRUE(view.ok()) << to_string(view.error());
    if (const auto* piece = view.value().as<DataView>()) {
      EXPECT_EQ(piece->range.address.value, 0x5000 + data);
      data += piece->range.data.size();
    }
    more = view.value().more_data();
    ++records;
  });
  EXPECT_EQ(records, 5u);
  EXPECT_EQ(data, text.size());
  EXPECT_FALSE(more);
}

TEST(EventView, AcceptsWhatTheBuilderMakes) {
  RandomRecords random(1);
  for (int i = 0; i < 2000; ++i) {
    RecordBuffer buffer;
    random.add(buffer);
    for_each_record(buffer.bytes(), [&](std::span<const std::byte> record) {
      const auto view = parse_record(record);
      ASSERT_TRUE(view.ok()) << i << ": " << to_string(view.error());
    });
  }
}

TEST(EventView, RefusesBadHeaders) {
  RecordBuffer buffer;
  buffer.add_turn({}, {2, wire::TurnReason::kWaits, 0});
  EXPECT_EQ(refusal(buffer, [](std::byte*) {}), "");
  EXPECT_EQ(refusal(buffer, set<std::uint32_t>(0, 24)), "the record has an impossible size");
  EXPECT_EQ(refusal(buffer, set<std::uint32_t>(0, 44)), "the record has an impossible size");
  EXPECT_EQ(refusal(buffer, set<std::uint32_t>(0, 0xfffffff8)), "the record has an impossible size");
  EXPECT_EQ(refusal(buffer, set<std::uint32_t>(0, 56)), "the record is cut off");
  EXPECT_EQ(refusal(buffer, set<std::uint32_t>(0, 40)), "the record is shorter than its kind");
  EXPECT_EQ(refusal(buffer, set<std::uint16_t>(4, 0)), "an unknown kind of event");
  EXPECT_EQ(refusal(buffer, set<std::uint16_t>(4, 10)), "an unknown kind of event");
  EXPECT_EQ(refusal(buffer, set<std::uint16_t>(6, 2)), "the record has unknown flags");
  EXPECT_EQ(refusal(buffer, set<std::uint32_t>(8, 0)), "the record has no thread");
  EXPECT_EQ(refusal(buffer, set<std::uint32_t>(12, 1)), "a reserved field is not 0");
  EXPECT_EQ(refusal(buffer, set<std::uint32_t>(36, 6)), "a turn ends for an unknown reason");
}

TEST(EventView, RefusesWhatIsNotAligned) {
  RecordBuffer buffer;
  buffer.add_turn({}, {2, wire::TurnReason::kWaits, 0});
  std::vector<std::byte> moved(buffer.bytes().size() + 8);
  std::memcpy(moved.data() + 4, buffer.bytes().data(), buffer.bytes().size());
  EXPECT_FALSE(parse_record(std::span(moved).subspan(4)).ok());
}

TEST(EventView, RefusesBadRanges) {
  RecordBuffer buffer;
  const RangeData range{{0x1000}, wire::Direction::kIn, bytes_of("abc")};
  buffer.add_syscall({}, {}, {&range, 1});
  constexpr std::size_t kBody = 32;
  constexpr std::size_t kRange = kBody + 80;
  EXPECT_EQ(refusal(buffer, [](std::byte*) {}), "");
  EXPECT_EQ(refusal(buffer, set<std::uint32_t>(kBody + 4, 2)), "a range reaches beyond its record");
  EXPECT_EQ(refusal(buffer, set<std::uint32_t>(kBody + 4, 0xffffffff)), "a range reaches beyond its record");
  EXPECT_EQ(refusal(buffer, set<std::uint32_t>(kBody + 4, 0)), "there is more than belongs to it");
  EXPECT_EQ(refusal(buffer, set<std::uint32_t>(kBody + 68, 1)), "a reserved field is not 0");
  EXPECT_EQ(refusal(buffer, set<std::uint64_t>(kRange, ~0ull)), "a range wraps around the end of memory");
  EXPECT_EQ(refusal(buffer, set<std::uint32_t>(kRange + 8, 9)),
            "the data of a range does not fit its record");
  EXPECT_EQ(refusal(buffer, set<std::uint32_t>(kRange + 8, ~0u)),
            "the data of a range does not fit its record");
  EXPECT_EQ(refusal(buffer, set<std::uint32_t>(kRange + 8, 2)), "the data of a range does not fit its record")
      << "padding that is not zero";
  EXPECT_EQ(refusal(buffer, set<std::uint32_t>(kRange + 12, 4)), "a range has an unknown direction");
}

TEST(EventView, RefusesBadStarts) {
  RecordBuffer buffer;
  const std::string argv[] = {"a", "b"};
  buffer.add_start({}, {}, "/p", argv, {});
  constexpr std::size_t kArgc = 32 + offsetof(wire::StartBody, argc);
  EXPECT_EQ(refusal(buffer, set<std::uint32_t>(kArgc, 1)), "there are more strings than argc and envc say");
  EXPECT_EQ(refusal(buffer, set<std::uint32_t>(kArgc, 3)), "there are fewer strings than argc and envc say");
  EXPECT_EQ(refusal(buffer, set<std::uint32_t>(kArgc, ~0u)),
            "there are fewer strings than argc and envc say");
  EXPECT_EQ(refusal(buffer, set<std::uint32_t>(kArgc + 4, ~0u)),
            "there are fewer strings than argc and envc say");
  EXPECT_EQ(refusal(buffer, set<std::uint32_t>(kArgc + 8, 100)), "the strings do not fit their record");
  EXPECT_EQ(refusal(buffer, set<char>(32 + sizeof(wire::StartBody) + 6, 'x')), "a string has no end");
}

TEST(EventView, RefusesBadMappings) {
  RecordBuffer buffer;
  wire::MappingBody body{};
  body.address = 0x1000;
  body.length = 0x1000;
  body.content = wire::Content::kData;
  buffer.add_mapping({}, body, "[x]", bytes_of("data"));
  EXPECT_EQ(refusal(buffer, [](std::byte*) {}), "");
  EXPECT_EQ(refusal(buffer, set<std::uint64_t>(32, 0x1001)), "a mapping is not whole pages");
  EXPECT_EQ(refusal(buffer, set<std::uint64_t>(40, 0)), "a mapping is not whole pages");
  EXPECT_EQ(refusal(buffer, set<std::uint64_t>(40, ~0xfffull)), "a mapping wraps around the end of memory");
  constexpr std::size_t kContent = 32 + offsetof(wire::MappingBody, content);
  EXPECT_EQ(refusal(buffer, set<std::uint32_t>(kContent, 3)), "a mapping has unknown content");
  EXPECT_EQ(refusal(buffer, set<std::uint32_t>(kContent, 1)), "a mapping of a captured file names none");
  EXPECT_EQ(refusal(buffer, set<std::uint32_t>(kContent, 0)),
            "a mapping has data that its content does not speak of");
  EXPECT_EQ(refusal(buffer, set<std::uint32_t>(kContent + 8, 1000)),
            "the name of a mapping does not fit its record");
  EXPECT_EQ(refusal(buffer, set<std::uint32_t>(kContent + 12, 1000)),
            "the data of a mapping does not fit its record");
  EXPECT_EQ(refusal(buffer, set<char>(32 + sizeof(wire::MappingBody) + 1, '\0')),
            "the name of a mapping contains a NUL");
}

TEST(EventView, SurvivesRandomChanges) {
  RandomRecords random(2);
  std::mt19937_64 changes(3);
  for (int i = 0; i < 5000; ++i) {
    RecordBuffer buffer;
    random.add(buffer);
    std::vector<std::byte> copy(buffer.bytes().begin(), buffer.bytes().end());
    for (int n = 0; n < 3; ++n)
      copy[changes() % std::min<std::size_t>(copy.size(), 256)] = static_cast<std::byte>(changes());
    copy.resize(copy.size() - changes() % std::min<std::size_t>(copy.size(), 9));
    copy.shrink_to_fit();
    const auto view = parse_record(copy);
    if (!view) continue;
    if (const auto* call = view.value().as<SyscallView>()) {
      std::size_t sum = 0;
      for (const RangeView range : call->ranges) sum += range.data.size();
      EXPECT_LE(sum, copy.size());
    }
  }
}

}  // namespace
}  // namespace detrec::event
