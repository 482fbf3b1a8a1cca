#include <gtest/gtest.h>
#include <zstd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/unit/event/random_records.h"
#include "tests/unit/event/sample_records.h"
#include "trace/event/chunk_codec.h"

namespace detrec::event {
namespace {

using testing::RandomRecords;

/// Encodes whole records; kData records keep the number of the event before them.
EncodedChunk encode(std::span<const std::byte> records, EventNumber first = {1}) {
  ChunkEncoder encoder;
  EventNumber number{first.value - 1};
  std::uint64_t time = 1'000'000'000;
  for_each_record(records, [&](std::span<const std::byte> record) {
    const auto view = parse_record(record);
    ASSERT_TRUE(view.ok()) << to_string(view.error());
    if (view.value().kind() != wire::EventKind::kData) ++number.value;
    encoder.add(view.value(), number, {time += 1'000'000});
  });
  auto chunk = encoder.finish();
  EXPECT_TRUE(chunk.ok());
  return chunk.value();
}

Result<ChunkDecoder> decoder_of(const EncodedChunk& chunk) {
  return ChunkDecoder::open(chunk.data, kChunkCodec, chunk.first_event, chunk.first_time, chunk.raw_size,
                            chunk.crc);
}

/// All records of a chunk one behind the other.
std::vector<std::byte> decode(const EncodedChunk& chunk) {
  std::vector<std::byte> records;
  auto decoder = decoder_of(chunk);
  EXPECT_TRUE(decoder.ok());
  if (!decoder) return records;
  while (true) {
    const auto record = decoder.value().next();
    EXPECT_TRUE(record.ok()) << to_string(record.error());
    if (!record || !record.value()) return records;
    records.insert(records.end(), record.value()->bytes.begin(), record.value()->bytes.end());
  }
}

bool same(std::span<const std::byte> a, std::span<const std::byte> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

TEST(Codec, RandomRecordsComeBackExactly) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    RandomRecords random(seed);
    RecordBuffer buffer;
    for (std::uint64_t i = 0; i < 5 + seed * 5; ++i) random.add(buffer);
    EXPECT_TRUE(same(decode(encode(buffer.bytes())), buffer.bytes())) << "seed " << seed;
  }
}

TEST(Codec, AnEncoderStartsAfreshWithEveryChunk) {
  RandomRecords random(7);
  ChunkEncoder encoder;
  EventNumber number;
  for (int chunk = 0; chunk < 5; ++chunk) {
    RecordBuffer buffer;
    for (int i = 0; i < 50; ++i) random.add(buffer);
    const EventNumber first{number.value + 1};
    for_each_record(buffer.bytes(), [&](std::span<const std::byte> record) {
      const auto view = parse_record(record);
      if (view.value().kind() != wire::EventKind::kData) ++number.value;
      encoder.add(view.value(), number, {1});
    });
    const auto finished = encoder.finish();
    ASSERT_TRUE(finished.ok());
    EXPECT_EQ(finished.value().first_event, first);
    EXPECT_EQ(finished.value().last_event, number);
    EXPECT_TRUE(same(decode(finished.value()), buffer.bytes()));
  }
}

TEST(Codec, NumbersAndTimes) {
  RecordBuffer buffer;
  testing::add_samples(buffer);
  auto chunk = encode(buffer.bytes(), {41});
  auto decoder = decoder_of(chunk);
  ASSERT_TRUE(decoder.ok());
  std::uint64_t expected = 40;
  std::uint64_t index = 0;
  while (true) {
    const auto record = decoder.value().next();
    ASSERT_TRUE(record.ok());
    if (!record.value()) break;
    if (record.value()->view.kind() != wire::EventKind::kData) ++expected;
    EXPECT_EQ(record.value()->number.value, expected);
    const std::uint64_t time = 1'000'000'000 + ++index * 1'000'000;
    EXPECT_LE(record.value()->time.ns, time);
    EXPECT_GT(record.value()->time.ns + (1 << 20), time);
  }
  EXPECT_EQ(chunk.first_event.value, 41u);
  EXPECT_EQ(chunk.last_event.value, expected);
}

TEST(Codec, AChunkMayBeginWithDataOfAnEarlierEvent) {
  RecordBuffer buffer;
  testing::add_read(buffer, 0, 300'000);
  const auto first_size = reinterpret_cast<const wire::EventHeader*>(buffer.bytes().data())->size;
  const auto rest = buffer.bytes().subspan(first_size);
  ChunkEncoder encoder;
  for_each_record(
      rest, [&](std::span<const std::byte> record) { encoder.add(parse_record(record).value(), {9}, {1}); });
  RecordBuffer next;
  testing::add_read(next, 1, 4);
  encoder.add(parse_record(next.bytes()).value(), {10}, {1});
  const auto chunk = encoder.finish();
  auto decoder = decoder_of(chunk.value());
  ASSERT_TRUE(decoder.ok());
  std::vector<std::uint64_t> numbers;
  while (true) {
    const auto record = decoder.value().next();
    ASSERT_TRUE(record.ok());
    if (!record.value()) break;
    numbers.push_back(record.value()->number.value);
  }
  EXPECT_EQ(numbers, (std::vector<std::uint64_t>{9, 9, 9, 9, 9, 10}));
}

TEST(Codec, ALoopOfCallsCostsLittleBeyondItsData) {
  RecordBuffer buffer;
  constexpr std::uint64_t kCalls = 20'000;
  for (std::uint64_t i = 0; i < kCalls; ++i) testing::add_read(buffer, i, 64);
  const auto chunk = encode(buffer.bytes());
  // What docs/event-codec.md promises; the durations of these calls carry six bits each.
  EXPECT_LE(chunk.coded_size, kCalls * 3);
}

/// The chunk's streams before compression: what the format is, whatever zstd makes of it.
std::vector<std::byte> streams_of(const EncodedChunk& chunk) {
  std::vector<std::byte> streams(chunk.raw_size);
  const std::size_t size =
      ZSTD_decompress(streams.data(), streams.size(), chunk.data.data(), chunk.data.size());
  EXPECT_EQ(size, streams.size());
  return streams;
}

std::vector<std::byte> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

// The golden files were written by `event_test` itself with DETREC_WRITE_GOLDEN=1. A difference means that
// traces of yesterday cannot be read: then a new codec number is due, not a new golden file.
TEST(Codec, FormatIsThatOfTheGoldenChunk) {
  RecordBuffer buffer;
  testing::add_samples(buffer);
  const auto chunk = encode(buffer.bytes());
  const std::string folder = GOLDEN_FOLDER;
  if (std::getenv("DETREC_WRITE_GOLDEN") != nullptr) {
    std::printf("raw size %llu, crc %#x\n", static_cast<unsigned long long>(chunk.raw_size), chunk.crc);
    std::ofstream(folder + "/chunk_1.zst", std::ios::binary)
        .write(reinterpret_cast<const char*>(chunk.data.data()),
               static_cast<std::streamsize>(chunk.data.size()));
  }
  EncodedChunk golden = chunk;
  golden.data = read_file(folder + "/chunk_1.zst");
  ASSERT_FALSE(golden.data.empty());
  EXPECT_TRUE(same(streams_of(golden), streams_of(chunk)));

  // And it decodes, with the size and checksum that its row would have.
  golden.raw_size = 71'103;
  golden.crc = 0x543c7bbc;
  EXPECT_TRUE(same(decode(golden), buffer.bytes()));
}

}  // namespace
}  // namespace detrec::event
