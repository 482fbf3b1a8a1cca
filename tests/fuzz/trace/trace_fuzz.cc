// Changed traces: records, the streams inside a chunk (with right checksums around them), and whole files.
// Nothing may crash, and what is accepted must be valid.
#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <random>

#include "storage/index_trace.h"
#include "tests/unit/event/random_records.h"
#include "tests/unit/storage/sample_run.h"
#include "tests/unit/storage/trace_folder.h"
#include "trace/event/chunk_codec.h"
#include "trace/event/render/render.h"

namespace {

using namespace detrec;
using Bytes = std::vector<std::byte>;

[[noreturn]] void fail(std::string_view what) {
  fmt::print(stderr, "trace_fuzz: {}\n", what);
  std::abort();
}

void check_record(std::span<const std::byte> bytes) {
  const Bytes aligned(bytes.begin(), bytes.end());
  const auto view = event::parse_record(aligned);
  if (!view) return;
  if (view.value().header->size > aligned.size()) fail("a record reaches beyond its bytes");
  event::ChunkEncoder encoder;
  encoder.add(view.value(), {1}, {1});
  const auto chunk = encoder.finish();
  if (!chunk) fail("a valid record cannot be encoded");
  auto decoder = event::ChunkDecoder::open(chunk.value().data, event::kChunkCodec, {1}, {1},
                                           chunk.value().raw_size, chunk.value().crc);
  if (!decoder) fail("a chunk cannot be opened");
  const auto record = decoder.value().next();
  if (!record || !record.value()) fail("a record does not come back");
  if (!std::equal(record.value()->bytes.begin(), record.value()->bytes.end(), aligned.begin(),
                  aligned.begin() + view.value().header->size))
    fail("a record comes back changed");
}

/// `streams` divided into the three of a chunk, by their first bytes.
void check_streams(std::span<const std::byte> streams) {
  Bytes data;
  std::uint64_t raw_size = 0;
  for (int i = 0; i < 3; ++i) {
    std::size_t size = streams.size();
    if (i < 2 && streams.size() >= 2) {
      size = std::min<std::size_t>(
          static_cast<std::size_t>(streams[0]) << 4 | static_cast<std::size_t>(streams[1]) >> 4,
          streams.size() - 2);
      streams = streams.subspan(2);
    }
    const std::size_t begin = data.size();
    data.resize(begin + ZSTD_compressBound(size));
    const std::size_t stored =
        ZSTD_compress(data.data() + begin, data.size() - begin, streams.data(), size, 1);
    data.resize(begin + stored);
    raw_size += size;
    streams = streams.subspan(size);
  }
  const auto crc = static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const unsigned char*>(data.data()), data.size()));
  auto decoder = event::ChunkDecoder::open(data, event::kChunkCodec, {1}, {1}, raw_size, crc);
  if (!decoder) fail("a well-formed chunk cannot be opened");
  while (true) {
    const auto record = decoder.value().next();
    if (!record || !record.value()) return;
    for (const char c : event::render_line(*record.value())) {
      if (c < ' ' || c > '~') fail("text is not escaped");
    }
  }
}

/// Reads everything of a trace; an error ends it.
void read_all(const std::filesystem::path& path) {
  const auto reader = storage::TraceReader::open(path);
  if (!reader) return;
  static_cast<void>(reader.value()->statistics().ok());
  if (const auto captures = reader.value()->captures()) {
    for (const auto& capture : captures.value())
      static_cast<void>(reader.value()->read_capture(capture, 1u << 20).ok());
  }
  auto cursor = reader.value()->events(std::max(reader.value()->first_event(), event::EventNumber{1}));
  if (!cursor) return;
  std::uint64_t last = 0;
  while (true) {
    const auto record = cursor.value().next();
    if (!record || !record.value()) return;
    if (record.value()->number.value < last) fail("events are out of order");
    last = record.value()->number.value;
  }
}

/// A trace, its bytes, and a place for changed copies.
class Files {
 public:
  Files() {
    storage::WriterOptions options;
    options.chunk_bytes = 2000;
    auto writer =
        storage::TraceWriter::create(folder_.path("whole"), storage::testing::sample_info(), options);
    if (!writer) fail(to_string(writer.error()));
    const Bytes content(2000, std::byte{5});
    if (!writer.value()->add_capture({1}, {"/bin/prog"}, content)) fail("no capture");
    event::RecordBuffer records = storage::testing::sample_run();
    event::testing::RandomRecords random(3);
    for (int i = 0; i < 60; ++i) random.add(records);
    storage::testing::add_all(*writer.value(), records.bytes());
    if (!writer.value()->finish({})) fail("no trace");
    whole_ = storage::testing::bytes_of_file(folder_.path("whole"));
  }
  const Bytes& whole() const { return whole_; }

  void check(std::span<const std::byte> bytes, bool index) {
    const auto path = folder_.path("changed");
    storage::testing::write_file(path, bytes);
    read_all(path);
    if (!index) return;
    if (storage::index_trace(path)) read_all(path);
    for (const char* suffix : {"-wal", "-shm", "-journal"}) {
      std::error_code ignored;
      std::filesystem::remove(path.string() + suffix, ignored);
    }
  }

 private:
  storage::testing::TraceFolder folder_;
  Bytes whole_;
};

Files& files() {
  static Files instance;
  return instance;
}

void mutate(Bytes& bytes, std::mt19937_64& random) {
  for (std::uint64_t n = 1 + random() % 8; n != 0 && !bytes.empty(); --n) {
    const std::size_t at = random() % bytes.size();
    switch (random() % 4) {
      case 0:
        bytes[at] = static_cast<std::byte>(random());
        break;
      case 1:
        bytes[at] ^= static_cast<std::byte>(1u << random() % 8);
        break;
      case 2:
        for (std::size_t i = at; i < std::min(bytes.size(), at + 1 + random() % 16); ++i)
          bytes[i] = std::byte{0xff};
        break;
      default: {
        const std::size_t from = random() % bytes.size();
        const std::size_t size = std::min({bytes.size() - at, bytes.size() - from, random() % 64 + 1});
        std::memmove(bytes.data() + at, bytes.data() + from, size);
      }
    }
  }
  if (random() % 8 == 0) bytes.resize(random() % (bytes.size() + 1));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  if (bytes.empty()) return 0;
  const auto rest = bytes.subspan(1);
  switch (static_cast<unsigned>(bytes[0]) % 3) {
    case 0:
      check_record(rest);
      break;
    case 1:
      check_streams(rest);
      break;
    default:
      files().check(rest, false);
  }
  return 0;
}

int main(int argc, char** argv) {
  const std::uint64_t inputs = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100'000;
  const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  std::mt19937_64 random(seed);
  event::testing::RandomRecords records(seed);
  for (std::uint64_t i = 0; i < inputs; ++i) {
    Bytes bytes;
    const std::uint64_t what = random() % 16;
    if (what < 8) {
      event::RecordBuffer buffer;
      records.add(buffer);
      const auto first = buffer.record_at(0);
      bytes.assign(first.begin(), first.end());
      if (random() % 4 != 0) mutate(bytes, random);
      check_record(bytes);
    } else if (what < 15) {
      bytes.resize(4 + random() % 600);
      for (auto& byte : bytes) byte = static_cast<std::byte>(random() % 3 ? random() : random() % 10);
      check_streams(bytes);
    } else {
      bytes = files().whole();
      mutate(bytes, random);
      files().check(bytes, random() % 4 == 0);
    }
  }
  fmt::print("{} inputs, seed {}\n", inputs, seed);
  return 0;
}
