#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "tests/unit/event/random_records.h"
#include "tests/unit/event/sample_records.h"
#include "tests/unit/storage/trace_folder.h"

namespace detrec::storage {
namespace {

using namespace testing;
using event::RecordBuffer;

RecordBuffer samples() {
  RecordBuffer buffer;
  event::testing::add_samples(buffer);
  return buffer;
}

TEST(RoundTrip, SampleRecordsComeBack) {
  const TraceFolder folder;
  const auto records = samples();
  write_trace(folder.path("a.detrec"), records.bytes());
  EXPECT_TRUE(same(read_records(folder.path("a.detrec")), records.bytes()));
}

TEST(RoundTrip, ManyChunksComeBack) {
  const TraceFolder folder;
  event::testing::RandomRecords random(11);
  RecordBuffer buffer;
  for (int i = 0; i < 3000; ++i) random.add(buffer);
  WriterOptions options;
  options.chunk_bytes = 20'000;
  options.queue_bytes = 100'000;
  write_trace(folder.path("a.detrec"), buffer.bytes(), options);
  EXPECT_GT(query(folder.path("a.detrec"), "SELECT seq FROM chunk").size(), 20u);
  EXPECT_TRUE(same(read_records(folder.path("a.detrec")), buffer.bytes()));
}

TEST(RoundTrip, ReadingBeginsAtAnyEvent) {
  const TraceFolder folder;
  event::testing::RandomRecords random(12);
  RecordBuffer buffer;
  std::vector<std::size_t> begins;  // of each event
  for (int i = 0; i < 150; ++i) {
    begins.push_back(buffer.bytes().size());
    random.add(buffer);
  }
  WriterOptions options;
  options.chunk_bytes = 10'000;
  write_trace(folder.path("a.detrec"), buffer.bytes(), options);
  for (std::size_t i = 0; i < begins.size(); ++i) {
    ASSERT_TRUE(same(read_records(folder.path("a.detrec"), {i + 1}), buffer.bytes().subspan(begins[i])))
        << "from event " << i + 1;
  }
  auto reader = TraceReader::open(folder.path("a.detrec"));
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(reader.value()->first_event().value, 1u);
  EXPECT_EQ(reader.value()->last_event().value, begins.size());
  auto behind = reader.value()->events({begins.size() + 1});
  ASSERT_TRUE(behind.ok());
  EXPECT_EQ(behind.value().next().value(), nullptr);
  for (const std::uint64_t none : {std::uint64_t{0}, std::uint64_t{begins.size() + 2}, ~std::uint64_t{0}}) {
    const auto cursor = reader.value()->events({none});
    ASSERT_FALSE(cursor.ok());
    EXPECT_EQ(cursor.error().code, ErrorCode::kNotFound);
  }
}

TEST(RoundTrip, AFinishedTraceIsOneFile) {
  const TraceFolder folder;
  write_trace(folder.path("a.detrec"), samples().bytes());
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path(""))) {
    static_cast<void>(entry);
    ++files;
  }
  EXPECT_EQ(files, 1u);
  EXPECT_EQ(query(folder.path("a.detrec"), "PRAGMA journal_mode"), (std::vector<std::string>{"delete"}));
  EXPECT_EQ(query(folder.path("a.detrec"), "PRAGMA integrity_check"), (std::vector<std::string>{"ok"}));
}

TEST(RoundTrip, TheDescriptionComesBack) {
  const TraceFolder folder;
  write_trace(folder.path("a.detrec"), samples().bytes());
  auto reader = TraceReader::open(folder.path("a.detrec"));
  ASSERT_TRUE(reader.ok());
  const auto& recording = reader.value()->recording();
  EXPECT_TRUE(recording.complete());
  EXPECT_EQ(recording.command(), (std::vector<std::string>{"sample", "an argument", "\xef\xbf\xbd"}));
  EXPECT_EQ(recording.text("host"), "testhost");
  EXPECT_EQ(recording.text("slice"), "100000");
  EXPECT_EQ(recording.number("ticks"), 1234u);
  EXPECT_EQ(recording.number("exit_status"), 3u);
  EXPECT_EQ(recording.number("events"), reader.value()->last_event().value);
  EXPECT_EQ(recording.text("no such key"), "");
}

TEST(RoundTrip, AnExistingFileIsKept) {
  const TraceFolder folder;
  write_file(folder.path("a.detrec"), std::as_bytes(std::span("precious")));
  const auto refused = TraceWriter::create(folder.path("a.detrec"), sample_info());
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(to_string(refused.error()).find("a.detrec: File exists"), std::string::npos)
      << to_string(refused.error());
  EXPECT_EQ(bytes_of_file(folder.path("a.detrec")).size(), 9u);
}

TEST(RoundTrip, OnlyATraceOrAnEmptyFileIsReplaced) {
  const TraceFolder folder;
  WriterOptions options;
  options.replace_existing = true;
  const auto path = folder.path("a.detrec");
  write_file(path, {});
  write_trace(path, samples().bytes(), options);
  write_trace(path, samples().bytes(), options);
  EXPECT_TRUE(same(read_records(path), samples().bytes()));

  const std::string precious(1000, 'x');
  write_file(folder.path("precious"), std::as_bytes(std::span(precious)));
  ASSERT_EQ(mkfifo(folder.path("fifo").c_str(), 0600), 0);
  std::filesystem::create_symlink(path, folder.path("link"));
  for (const char* name : {"precious", "fifo", "link"}) {
    const auto refused = TraceWriter::create(folder.path(name), sample_info(), options);
    ASSERT_FALSE(refused.ok()) << name;
    EXPECT_NE(to_string(refused.error()).find("is not a trace"), std::string::npos) << name;
  }
  EXPECT_EQ(bytes_of_file(folder.path("precious")).size(), precious.size());
  EXPECT_TRUE(std::filesystem::is_fifo(folder.path("fifo")));
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path("link")));
}

TEST(RoundTrip, RecordsOutOfOrderAreRefusedAndLeaveNoMark) {
  const TraceFolder folder;
  auto writer = TraceWriter::create(folder.path("a.detrec"), sample_info());
  ASSERT_TRUE(writer.ok());
  RecordBuffer data;
  data.add_data({}, {{1}, wire::Direction::kIn, {}}, false);
  EXPECT_EQ(writer.value()->add(data.bytes(), {}).error().code, ErrorCode::kInvalid);
  RecordBuffer large;
  event::testing::add_read(large, 0, 100'000);
  bool first = true;
  event::for_each_record(large.bytes(), [&](std::span<const std::byte> record) {
    EXPECT_EQ(writer.value()->add(record, {}).value().value, 1u);
    if (first) {
      RecordBuffer other;
      event::testing::add_read(other, 0, 1);
      EXPECT_EQ(writer.value()->add(other.bytes(), {}).error().code, ErrorCode::kInvalid);
    }
    first = false;
  });
  std::vector<std::byte> broken(large.bytes().begin(), large.bytes().end());
  broken[4] = std::byte{77};
  EXPECT_FALSE(writer.value()->add(broken, {}).ok());
  ASSERT_TRUE(writer.value()->finish({}).ok());
  EXPECT_FALSE(writer.value()->finish({}).ok());
  EXPECT_TRUE(same(read_records(folder.path("a.detrec")), large.bytes()));
}

TEST(RoundTrip, WhatWasFlushedCanBeReadWhileRecording) {
  const TraceFolder folder;
  auto writer = TraceWriter::create(folder.path("a.detrec"), sample_info());
  ASSERT_TRUE(writer.ok());
  const auto records = samples();
  add_all(*writer.value(), records.bytes());
  ASSERT_TRUE(writer.value()->flush().ok());
  EXPECT_TRUE(same(read_records(folder.path("a.detrec")), records.bytes()));
  auto reader = TraceReader::open(folder.path("a.detrec"));
  ASSERT_TRUE(reader.ok());
  EXPECT_FALSE(reader.value()->recording().complete());
  ASSERT_TRUE(writer.value()->finish({}).ok()) << "an idle reader is no obstacle";
}

/// Until the trace has so many chunks. At first a query may be told that it has no tables, or is locked.
bool wait_for_chunks(const std::filesystem::path& trace, const std::string& count) {
  const std::vector<std::string> wanted{count};
  for (int i = 0; i < 3000; ++i) {
    if (query(trace, "SELECT count(*) FROM chunk") == wanted) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

TEST(RoundTrip, WhatIsAddedIsWrittenSoonWithoutBeingAskedFor) {
  const TraceFolder folder;
  auto writer = TraceWriter::create(folder.path("a.detrec"), sample_info());
  ASSERT_TRUE(writer.ok());
  add_all(*writer.value(), samples().bytes());
  EXPECT_TRUE(wait_for_chunks(folder.path("a.detrec"), "1"));
}

TEST(RoundTrip, AWriterThatIsDroppedLeavesWhatItHad) {
  const TraceFolder folder;
  {
    auto writer = TraceWriter::create(folder.path("a.detrec"), sample_info());
    ASSERT_TRUE(writer.ok());
    add_all(*writer.value(), samples().bytes());
  }
  EXPECT_TRUE(same(read_records(folder.path("a.detrec")), samples().bytes()));
  EXPECT_FALSE(TraceReader::open(folder.path("a.detrec")).value()->recording().complete());
}

TEST(RoundTrip, AnEventIsNotTornByTheClock) {
  const TraceFolder folder;
  WriterOptions options;
  options.flush_interval = std::chrono::milliseconds(5);
  auto writer = TraceWriter::create(folder.path("a.detrec"), sample_info(), options);
  ASSERT_TRUE(writer.ok());
  RecordBuffer large;
  event::testing::add_read(large, 0, 200'000);
  event::for_each_record(large.bytes(), [&](std::span<const std::byte> record) {
    ASSERT_TRUE(writer.value()->add(record, {1}).ok());
    const bool last = record.data() + record.size() == large.bytes().data() + large.bytes().size();
    if (last) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    EXPECT_TRUE(wait_for_chunks(folder.path("a.detrec"), "0"));
  });
  EXPECT_TRUE(wait_for_chunks(folder.path("a.detrec"), "1"));
}

TEST(RoundTrip, AnEventLargerThanChunksIsSplit) {
  const TraceFolder folder;
  WriterOptions options;
  options.chunk_bytes = 70'000;
  RecordBuffer records;
  event::testing::add_read(records, 0, 10);
  event::testing::add_read(records, 1, 3'000'000);
  event::testing::add_read(records, 2, 10);
  write_trace(folder.path("a.detrec"), records.bytes(), options);
  EXPECT_GT(query(folder.path("a.detrec"), "SELECT seq FROM chunk WHERE first_event = 2").size(), 5u);
  EXPECT_TRUE(same(read_records(folder.path("a.detrec")), records.bytes()));
  EXPECT_TRUE(same(read_records(folder.path("a.detrec"), {3}), records.bytes().last(144)));
}

TEST(RoundTrip, SeveralReadersAtOnce) {
  const TraceFolder folder;
  event::testing::RandomRecords random(13);
  RecordBuffer buffer;
  for (int i = 0; i < 500; ++i) random.add(buffer);
  WriterOptions options;
  options.chunk_bytes = 50'000;
  write_trace(folder.path("a.detrec"), buffer.bytes(), options);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] { EXPECT_TRUE(same(read_records(folder.path("a.detrec")), buffer.bytes())); });
  }
  for (auto& thread : threads) thread.join();
}

TEST(Captures, ContentComesBackAndIsStoredOnce) {
  const TraceFolder folder;
  std::vector<std::byte> small(5000, std::byte{1});
  std::vector<std::byte> large(9u << 20);
  for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<std::byte>(i * i >> 12);
  std::vector<std::byte> exact(4u << 20, std::byte{9});
  const std::vector<std::byte>* contents[] = {&small, &large, &small, &large, &exact};
  auto writer = TraceWriter::create(folder.path("a.detrec"), sample_info());
  ASSERT_TRUE(writer.ok());
  for (std::uint32_t i = 0; i < 5; ++i) {
    const auto path = folder.path("file" + std::to_string(i));
    write_file(path, *contents[i]);
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    ASSERT_GE(fd, 0);
    const auto added = writer.value()->add_capture({i + 1}, {path, 5, i, 77}, fd);
    ASSERT_TRUE(added.ok()) << to_string(added.error());
    EXPECT_EQ(::lseek(fd, 0, SEEK_CUR), 0);
    ::close(fd);
  }
  ASSERT_TRUE(writer.value()->add_capture({6}, {"[bytes]"}, small).ok());
  ASSERT_TRUE(writer.value()->add_capture({7}, {"[empty]"}, std::span<const std::byte>{}).ok());
  EXPECT_FALSE(writer.value()->add_capture({7}, {"again"}, small).ok());
  EXPECT_FALSE(writer.value()->add_capture({0}, {"none"}, small).ok());
  ASSERT_TRUE(writer.value()->finish({}).ok());

  EXPECT_EQ(query(folder.path("a.detrec"), "SELECT count(*) FROM file"), (std::vector<std::string>{"4"}));
  EXPECT_EQ(query(folder.path("a.detrec"),
                  "SELECT count(*) FROM file_piece WHERE file NOT IN (SELECT id FROM file)"),
            (std::vector<std::string>{"0"}));
  auto reader = TraceReader::open(folder.path("a.detrec"));
  ASSERT_TRUE(reader.ok());
  const auto captures = reader.value()->captures();
  ASSERT_TRUE(captures.ok());
  ASSERT_EQ(captures.value().size(), 7u);
  for (std::uint32_t i = 0; i < 5; ++i) {
    const auto capture = reader.value()->capture({i + 1});
    ASSERT_TRUE(capture.ok());
    EXPECT_EQ(capture.value().info.inode, i);
    EXPECT_EQ(capture.value().info.size, contents[i]->size());
    const auto content = reader.value()->read_capture(capture.value(), 100u << 20);
    ASSERT_TRUE(content.ok()) << to_string(content.error());
    EXPECT_TRUE(same(content.value(), *contents[i]));
  }
  EXPECT_FALSE(reader.value()->read_capture(captures.value()[1], 1000).ok()) << "larger than the limit";
  EXPECT_EQ(reader.value()->capture({8}).error().code, ErrorCode::kNotFound);

  const auto copy = folder.path("copy");
  const int fd = ::open(copy.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  ASSERT_TRUE(reader.value()->copy_capture(captures.value()[1], fd, 100).ok());
  ::close(fd);
  EXPECT_TRUE(same(std::span<const std::byte>(bytes_of_file(copy)).subspan(100), large));
}

TEST(Captures, ZerosBecomeHoles) {
  const TraceFolder folder;
  std::vector<std::byte> sparse(9u << 20);
  sparse.front() = sparse[5u << 20] = sparse.back() = std::byte{1};
  auto writer = TraceWriter::create(folder.path("a.detrec"), sample_info());
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(writer.value()->add_capture({1}, {"[sparse]"}, sparse).ok());
  ASSERT_TRUE(writer.value()->finish({}).ok());
  auto reader = TraceReader::open(folder.path("a.detrec"));
  ASSERT_TRUE(reader.ok());
  const auto capture = reader.value()->capture({1});
  ASSERT_TRUE(capture.ok());
  const int fd = ::memfd_create("copy", MFD_CLOEXEC);
  ASSERT_TRUE(reader.value()->copy_capture(capture.value(), fd, 4096).ok());
  std::vector<std::byte> copy(sparse.size());
  EXPECT_EQ(::pread(fd, copy.data(), copy.size(), 4096), static_cast<ssize_t>(copy.size()));
  EXPECT_TRUE(same(copy, sparse));
  struct stat status {};
  ASSERT_EQ(::fstat(fd, &status), 0);
  EXPECT_LT(status.st_blocks * 512, 1 << 20);
  ::close(fd);
}

/// A sparse file with some bytes at each of the places, which are whole pages.
int sparse_file(const std::string& path, off_t size, std::initializer_list<off_t> places) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  EXPECT_EQ(::ftruncate(fd, size), 0);
  for (const off_t place : places) EXPECT_EQ(::pwrite(fd, "data", 4, place), 4);
  EXPECT_EQ(::lseek(fd, 123, SEEK_SET), 123);
  return fd;
}

TEST(Captures, HolesCostNothing) {
  constexpr off_t kGiB = 1 << 30;
  constexpr off_t kSize = 2000 * kGiB + 5;  // hours, if all of it were read
  const TraceFolder folder;
  auto writer = TraceWriter::create(folder.path("a.detrec"), sample_info());
  ASSERT_TRUE(writer.ok());
  const int files[] = {sparse_file(folder.path("1"), kSize, {0, 1000 * kGiB}),
                       sparse_file(folder.path("2"), kSize, {4096, 1000 * kGiB}),
                       sparse_file(folder.path("3"), kSize, {0, 1000 * kGiB}),
                       sparse_file(folder.path("4"), kSize, {}),
                       sparse_file(folder.path("5"), kGiB / 64, {})};
  for (std::uint32_t i = 0; i < std::size(files); ++i) {
    ASSERT_TRUE(writer.value()->add_capture({i + 1}, {"[sparse]"}, files[i]).ok());
    EXPECT_EQ(::lseek(files[i], 0, SEEK_CUR), 123) << "the program's place in the file is left alone";
    ::close(files[i]);
  }
  ASSERT_TRUE(writer.value()->finish({}).ok());
  EXPECT_EQ(query(folder.path("a.detrec"), "SELECT count(*), count(DISTINCT hash), sum(size) FROM file"),
            (std::vector<std::string>{"4|4|" + std::to_string(3 * kSize + kGiB / 64)}))
      << "the third is as the first";

  auto reader = TraceReader::open(folder.path("a.detrec"));
  ASSERT_TRUE(reader.ok());
  const int fd = ::memfd_create("restored", MFD_CLOEXEC);
  const auto capture = reader.value()->capture({2});
  ASSERT_TRUE(capture.ok());
  EXPECT_EQ(capture.value().info.size, static_cast<std::uint64_t>(kSize));
  ASSERT_TRUE(reader.value()->copy_capture(capture.value(), fd, 0).ok());
  char bytes[8];
  for (const off_t place : {off_t{4096}, 1000 * kGiB}) {
    ASSERT_EQ(::pread(fd, bytes, sizeof bytes, place - 2), 8);
    EXPECT_EQ(std::string_view(bytes, 8), std::string_view("\0\0data\0\0", 8));
  }
  ::close(fd);
  const auto small = reader.value()->capture({5});
  ASSERT_TRUE(small.ok());
  const auto content = reader.value()->read_capture(small.value(), 100u << 20);
  ASSERT_TRUE(content.ok());
  EXPECT_EQ(content.value(), std::vector<std::byte>(kGiB / 64));
}

TEST(Captures, AnUnchangedProgramIsNotReadAgain) {
  const TraceFolder folder;
  const auto path = folder.path("program");
  std::vector<std::byte> content(1000, std::byte{3});
  content[0] = std::byte{0x7f};
  content[1] = std::byte{'E'};
  content[2] = std::byte{'L'};
  content[3] = std::byte{'F'};
  write_file(path, content);
  auto writer = TraceWriter::create(folder.path("a.detrec"), sample_info());
  ASSERT_TRUE(writer.ok());
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_TRUE(writer.value()->add_capture({1}, {path}, fd).ok());
  // Just written: its times prove nothing, so a change is seen even when they are put back.
  struct stat before;
  ASSERT_EQ(::fstat(fd, &before), 0);
  content[500] = std::byte{4};
  write_file(path, content);
  const timespec times[] = {before.st_atim, before.st_mtim};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  ASSERT_TRUE(writer.value()->add_capture({2}, {path}, fd).ok());
  ::close(fd);
  ASSERT_TRUE(writer.value()->finish({}).ok());
  EXPECT_EQ(query(folder.path("a.detrec"), "SELECT count(*) FROM file"), (std::vector<std::string>{"2"}));
}

}  // namespace
}  // namespace detrec::storage
