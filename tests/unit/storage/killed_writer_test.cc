// A recorder that is killed leaves a trace that is good up to the last flush.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <random>
#include <thread>

#include "storage/index_trace.h"
#include "tests/unit/event/sample_records.h"
#include "tests/unit/storage/trace_folder.h"

namespace detrec::storage {
namespace {

using namespace testing;

constexpr std::uint64_t kEventsPerFlush = 500;

/// Writes without end; reports the number of flushed events through `pipe`.
[[noreturn]] void record_for_ever(const std::filesystem::path& path, int pipe) {
  WriterOptions options;
  options.chunk_bytes = 10'000;
  auto writer = TraceWriter::create(path, sample_info(), options);
  if (!writer) ::_exit(1);
  for (std::uint64_t i = 0;; ++i) {
    event::RecordBuffer buffer;
    event::testing::add_read(buffer, i, 200);
    if (!writer.value()->add(buffer.bytes(), {i})) ::_exit(2);
    if ((i + 1) % kEventsPerFlush != 0) continue;
    if (!writer.value()->flush()) ::_exit(3);
    const std::uint64_t flushed = i + 1;
    if (::write(pipe, &flushed, sizeof flushed) != sizeof flushed) ::_exit(4);
  }
}

TEST(KilledWriter, TheTraceIsGoodUpToTheLastFlush) {
  const TraceFolder folder;
  std::mt19937_64 random(41);
  for (int round = 0; round < 25; ++round) {
    const auto path = folder.path("killed-" + std::to_string(round) + ".detrec");
    int pipe[2];
    ASSERT_EQ(::pipe(pipe), 0);
    const pid_t child = ::fork();
    if (child == 0) record_for_ever(path, pipe[1]);
    ::close(pipe[1]);
    // The first report comes in any case; then any moment will do.
    std::uint64_t flushed = 0;
    ASSERT_EQ(::read(pipe[0], &flushed, sizeof flushed), static_cast<ssize_t>(sizeof flushed));
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 40'000));
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "it ended by itself with " << WEXITSTATUS(status);
    while (::read(pipe[0], &flushed, sizeof flushed) == static_cast<ssize_t>(sizeof flushed)) continue;
    ::close(pipe[0]);

    std::uint64_t events = 0;
    {
      auto reader = TraceReader::open(path);
      ASSERT_TRUE(reader.ok()) << to_string(reader.error());
      EXPECT_FALSE(reader.value()->recording().complete());
      events = reader.value()->last_event().value;
      EXPECT_GE(events, flushed);
    }
    event::RecordBuffer expected;
    for (std::uint64_t i = 0; i < events; ++i) event::testing::add_read(expected, i, 200);
    ASSERT_TRUE(same(read_records(path), expected.bytes())) << "round " << round;
    ASSERT_EQ(query(path, "PRAGMA integrity_check"), (std::vector<std::string>{"ok"}));

    const auto counts = index_trace(path);
    ASSERT_TRUE(counts.ok()) << to_string(counts.error());
    EXPECT_EQ(counts.value().syscalls, events);
    EXPECT_FALSE(std::filesystem::exists(path.string() + "-wal")) << "the journal is folded";
    EXPECT_FALSE(TraceReader::open(path).value()->recording().complete()) << "but it stays cut off";
  }
}

}  // namespace
}  // namespace detrec::storage
