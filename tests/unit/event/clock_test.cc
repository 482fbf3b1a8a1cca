// clock_gettime, which has forms of its own: short in a ring, and timed in a chunk.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "trace/event/chunk_codec.h"
#include "trace/event/record_builder.h"
#include "trace/wire/clock_record.h"

namespace detrec::event {
namespace {

struct Timespec {
  std::int64_t seconds, nanoseconds;
};

wire::SyscallBody clock_body(std::int64_t result = 0) {
  wire::SyscallBody body{};
  body.number = wire::kClockGettime;
  body.args[0] = 1;
  body.args[1] = 0x7ffe'0000;
  body.result = result;
  return body;
}

void add_clock(RecordBuffer& to, Timespec time, wire::SyscallBody body = clock_body(),
               std::size_t size = sizeof(Timespec)) {
  const RangeData range{{body.args[1]}, wire::Direction::kIn, std::as_bytes(std::span(&time, 1)).first(size)};
  to.add_syscall({.ticks = {17}, .pc = {0x401000}}, body, std::span(&range, 1));
}

void add_all(ChunkEncoder& encoder, std::span<const std::byte> records) {
  for (std::uint64_t number = 1; !records.empty(); ++number) {
    const auto view = parse_record(records);
    ASSERT_TRUE(view.ok()) << to_string(view.error());
    encoder.add(view.value(), {number}, {1});
    records = records.subspan(view.value().header->size);
  }
}

EncodedChunk encode(std::span<const std::byte> records) {
  ChunkEncoder encoder;
  add_all(encoder, records);
  return encoder.finish().value();
}

void expect_exact(const RecordBuffer& buffer) {
  const EncodedChunk chunk = encode(buffer.bytes());
  auto decoder = ChunkDecoder::open(chunk.data, kChunkCodec, chunk.first_event, chunk.first_time,
                                    chunk.raw_size, chunk.crc);
  ASSERT_TRUE(decoder.ok());
  std::vector<std::byte> decoded;
  while (true) {
    const auto record = decoder.value().next();
    ASSERT_TRUE(record.ok()) << to_string(record.error());
    if (record.value() == nullptr) break;
    decoded.insert(decoded.end(), record.value()->bytes.begin(), record.value()->bytes.end());
  }
  EXPECT_TRUE(std::equal(decoded.begin(), decoded.end(), buffer.bytes().begin(), buffer.bytes().end()));
}

TEST(TimedCalls, ComeBackExactly) {
  RecordBuffer buffer;
  for (std::int64_t i = 0; i < 100; ++i)
    add_clock(buffer, {1'700'000'000 + i / 10, i * 7'919 % 1'000'000'000});
  expect_exact(buffer);
}

TEST(TimedCalls, WhatIsNoTimeIsKeptAsItIs) {
  RecordBuffer buffer;
  add_clock(buffer, {5, 999'999'999});
  add_clock(buffer, {5, 1'000'000'000});  // no kernel says so; a program may be recorded that does
  add_clock(buffer, {-1, 5});
  add_clock(buffer, {5, -1});
  add_clock(buffer, {std::int64_t{1} << 62, 0});
  add_clock(buffer, {6, 0});
  add_clock(buffer, {7, 0}, clock_body(), 8);
  add_clock(buffer, {8, 0}, clock_body(-14));
  buffer.add_syscall({.ticks = {17}, .pc = {0x401000}}, clock_body(-14));
  buffer.add_syscall({.ticks = {17}, .pc = {0x401000}}, clock_body());
  add_clock(buffer, {9, 0});
  expect_exact(buffer);
}

TEST(TimedCalls, CostTheStepOfTheTime) {
  RecordBuffer buffer;
  constexpr std::uint64_t kCalls = 10'000;
  for (std::uint64_t i = 0; i < kCalls; ++i)
    add_clock(buffer, {1'700'000'000, static_cast<std::int64_t>(i * 90 + i * i % 30)});
  const EncodedChunk chunk = encode(buffer.bytes());
  EXPECT_LE(chunk.data.size(), kCalls * 3);
}

const wire::EventHeader& first_of(const RecordBuffer& buffer) {
  return *reinterpret_cast<const wire::EventHeader*>(buffer.bytes().data());
}

TEST(ClockRecords, StandForTheWholeRecord) {
  RecordBuffer buffer;
  add_clock(buffer, {1'700'000'000, 123});
  wire::ClockRecord record;
  ASSERT_TRUE(wire::shorten(first_of(buffer), record));
  wire::ClockCall call;
  wire::expand(record, call);
  EXPECT_EQ(std::memcmp(&call, buffer.bytes().data(), buffer.bytes().size()), 0);
  EXPECT_EQ(sizeof call, buffer.bytes().size());
}

TEST(ClockRecords, NothingElseIsShortened) {
  const auto expect_whole = [](const wire::SyscallBody& body, std::size_t size = sizeof(Timespec)) {
    RecordBuffer buffer;
    add_clock(buffer, {1, 2}, body, size);
    wire::ClockRecord record;
    EXPECT_FALSE(wire::shorten(first_of(buffer), record));
  };
  expect_whole(clock_body(), 9);
  expect_whole(clock_body(-14));
  for (int i = 2; i < 6; ++i) {
    wire::SyscallBody body = clock_body();
    body.args[i] = 1;
    expect_whole(body);
  }
  wire::SyscallBody body = clock_body();
  body.input_hash = 1;
  expect_whole(body);
  body = clock_body();
  body.duration_ns = 1;
  expect_whole(body);
  body = clock_body();
  body.number = 229;
  expect_whole(body);
}

}  // namespace
}  // namespace detrec::event
