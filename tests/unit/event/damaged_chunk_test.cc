// Chunks that somebody changed: every change is refused or decodes to valid records, and none makes the
// decoder take more memory than a chunk may.
#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <random>

#include "tests/unit/event/random_records.h"
#include "tests/unit/event/sample_records.h"
#include "trace/event/chunk_codec.h"

namespace detrec::event {
namespace {

using Bytes = std::vector<std::byte>;

std::uint32_t crc_of(std::span<const std::byte> data) {
  return static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const unsigned char*>(data.data()), data.size()));
}

EncodedChunk sample_chunk() {
  RecordBuffer buffer;
  testing::add_samples(buffer);
  ChunkEncoder encoder;
  EventNumber number;
  for_each_record(buffer.bytes(), [&](std::span<const std::byte> record) {
    const auto view = parse_record(record);
    if (view.value().kind() != wire::EventKind::kData) ++number.value;
    encoder.add(view.value(), number, {1});
  });
  return encoder.finish().value();
}

void append_frame(Bytes& to, std::span<const std::byte> content) {
  const std::size_t begin = to.size();
  to.resize(begin + ZSTD_compressBound(content.size()));
  const std::size_t size =
      ZSTD_compress(to.data() + begin, to.size() - begin, content.data(), content.size(), 1);
  ASSERT_EQ(ZSTD_isError(size), 0u);
  to.resize(begin + size);
}

/// What opening and reading to the end says; empty when all is well.
std::string refusal(const Bytes& data, std::uint64_t raw_size, std::uint32_t crc,
                    std::uint32_t codec = kChunkCodec) {
  auto decoder = ChunkDecoder::open(data, codec, {1}, {1}, raw_size, crc);
  if (!decoder) return decoder.error().message;
  while (true) {
    auto record = decoder.value().next();
    if (!record) {
      const auto after = decoder.value().next();
      EXPECT_TRUE(after.ok() && !after.value()) << "after an error there is nothing more";
      return record.error().message;
    }
    if (!record.value()) return {};
    EXPECT_LE(record.value()->bytes.size(), wire::kMaxRecordBytes);
  }
}

TEST(DamagedChunk, TheUndamagedOneIsAccepted) {
  const auto chunk = sample_chunk();
  EXPECT_EQ(refusal(chunk.data, chunk.raw_size, chunk.crc), "");
}

TEST(DamagedChunk, EveryFlippedBitFailsTheChecksum) {
  auto chunk = sample_chunk();
  for (auto& byte : chunk.data) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      byte ^= static_cast<std::byte>(1u << bit);
      ASSERT_EQ(refusal(chunk.data, chunk.raw_size, chunk.crc), "its checksum is wrong");
      byte ^= static_cast<std::byte>(1u << bit);
    }
  }
}

TEST(DamagedChunk, EveryTruncationIsRefused) {
  const auto chunk = sample_chunk();
  for (std::size_t size = 0; size < chunk.data.size(); ++size) {
    const Bytes data(chunk.data.begin(), chunk.data.begin() + static_cast<std::ptrdiff_t>(size));
    ASSERT_NE(refusal(data, chunk.raw_size, crc_of(data)), "") << size;
  }
}

TEST(DamagedChunk, SizesAreCheckedFirst) {
  const auto chunk = sample_chunk();
  EXPECT_EQ(refusal(chunk.data, chunk.raw_size + 1, chunk.crc), "its size is not what its row says");
  EXPECT_EQ(refusal(chunk.data, ~0ull, chunk.crc), "it says to be larger than chunks can be");
  EXPECT_EQ(refusal(chunk.data, chunk.raw_size, chunk.crc, 1), "it has coding 1, which is not known");
  EXPECT_EQ(refusal(chunk.data, chunk.raw_size, chunk.crc, 3), "it has coding 3, which is not known");
  Bytes longer = chunk.data;
  longer.push_back(std::byte{0});
  EXPECT_EQ(refusal(longer, chunk.raw_size, crc_of(longer)), "there is something behind its frames");
}

TEST(DamagedChunk, AFrameThatSaysToBeHugeIsRefused) {
  // A zstd frame header with an 8-byte content size of 2^60, and an empty last block.
  const unsigned char huge[] = {0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0, 0, 0, 0, 0, 0x10, 0x01, 0, 0};
  const auto bytes = std::as_bytes(std::span(huge));
  Bytes data(bytes.begin(), bytes.end());
  append_frame(data, {});
  append_frame(data, {});
  EXPECT_EQ(refusal(data, 1u << 20, crc_of(data)), "a frame has an impossible size");
}

TEST(DamagedChunk, ChangedStreamsNeverHarm) {
  const auto chunk = sample_chunk();
  // Take the frames apart, change their content, and close them again with correct sums.
  std::span<const std::byte> rest = chunk.data;
  std::vector<Bytes> streams;
  for (int i = 0; i < 3; ++i) {
    const std::size_t stored = ZSTD_findFrameCompressedSize(rest.data(), rest.size());
    Bytes stream(static_cast<std::size_t>(ZSTD_getFrameContentSize(rest.data(), stored)));
    ASSERT_EQ(ZSTD_decompress(stream.data(), stream.size(), rest.data(), stored), stream.size());
    streams.push_back(stream);
    rest = rest.subspan(stored);
  }
  std::mt19937_64 random(5);
  int refused = 0;
  for (int i = 0; i < 4000; ++i) {
    auto changed = streams;
    for (std::uint64_t n = 1 + random() % 3; n > 0; --n) {
      Bytes& stream = changed[random() % 10 < 7 ? 0 : random() % 3];
      stream[random() % stream.size()] = static_cast<std::byte>(random());
    }
    if (random() % 4 == 0) changed[random() % 3].resize(random() % 200);
    Bytes data;
    std::uint64_t size = 0;
    for (const Bytes& stream : changed) {
      append_frame(data, stream);
      size += stream.size();
    }
    refused += !refusal(data, size, crc_of(data)).empty();
  }
  EXPECT_GT(refused, 1000);
}

TEST(DamagedChunk, RandomStreamsNeverHarm) {
  std::mt19937_64 random(6);
  for (int i = 0; i < 3000; ++i) {
    Bytes data;
    std::uint64_t size = 0;
    for (int n = 0; n < 3; ++n) {
      Bytes stream(random() % 400);
      for (auto& byte : stream) byte = static_cast<std::byte>(random() % 2 ? random() : random() % 16);
      append_frame(data, stream);
      size += stream.size();
    }
    refusal(data, size, crc_of(data));
  }
}

}  // namespace
}  // namespace detrec::event
