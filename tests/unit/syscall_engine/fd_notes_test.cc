#include "trace/guest/syscall/fd_notes.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/unit/syscall_engine/fake_engine.h"

namespace detrec::guest::syscall {
namespace {

TEST(FdNotes, AreKeptUntilForgotten) {
  test::HeldTurn held;
  Turn& turn = held.turn();
  for (u64 fd : {0ull, 63ull, 64ull, 4095ull}) {
    EXPECT_FALSE(has_note(turn, fd, FdNote::kNoCode));
    add_note(turn, fd, FdNote::kNoCode);
    EXPECT_TRUE(has_note(turn, fd, FdNote::kNoCode));
    EXPECT_FALSE(has_note(turn, fd, FdNote::kMayWait));
  }
  forget_fd(63);
  EXPECT_FALSE(has_note(turn, 63, FdNote::kNoCode));
  EXPECT_TRUE(has_note(turn, 64, FdNote::kNoCode));
  forget_fds(1, ~0u);
  EXPECT_TRUE(has_note(turn, 0, FdNote::kNoCode));
  EXPECT_FALSE(has_note(turn, 64, FdNote::kNoCode));
  EXPECT_FALSE(has_note(turn, 4095, FdNote::kNoCode));
  forget_all_fds();
  EXPECT_FALSE(has_note(turn, 0, FdNote::kNoCode));
}

TEST(FdNotes, NothingIsNotedBeyondTheTable) {
  test::HeldTurn held;
  add_note(held.turn(), 4096, FdNote::kNoCode);
  EXPECT_FALSE(has_note(held.turn(), 4096, FdNote::kNoCode));
  forget_fd(1 << 30);
}

TEST(FdNotes, NothingIsNotedForAVforkChild) {
  test::HeldTurn held;
  Turn& turn = held.turn();
  add_note(turn, 5, FdNote::kNoCode);
  turn.thread().vfork_child = true;
  EXPECT_FALSE(has_note(turn, 5, FdNote::kNoCode));  // its descriptor 5 is another
  add_note(turn, 6, FdNote::kNoCode);
  turn.thread().vfork_child = false;
  EXPECT_TRUE(has_note(turn, 5, FdNote::kNoCode));
  EXPECT_FALSE(has_note(turn, 6, FdNote::kNoCode));
  forget_all_fds();
}

TEST(FdNotes, KnowWhatNeverWaits) {
  test::HeldTurn held;
  Turn& turn = held.turn();
  int pipe_fds[2];
  ASSERT_EQ(pipe(pipe_fds), 0);
  int file = open("/proc/self/exe", O_RDONLY), folder = open("/", O_RDONLY),
      null = open("/dev/null", O_RDONLY);
  for (int round = 0; round < 2; ++round) {  // the second from the notes
    EXPECT_TRUE(never_waits(turn, static_cast<u64>(file)));
    EXPECT_TRUE(never_waits(turn, static_cast<u64>(folder)));
    EXPECT_FALSE(never_waits(turn, static_cast<u64>(null)));
    EXPECT_FALSE(never_waits(turn, static_cast<u64>(pipe_fds[0])));
    EXPECT_TRUE(never_waits(turn, 4000));  // not open: the call itself says so at once
  }
  ASSERT_EQ(::dup2(file, pipe_fds[0]), pipe_fds[0]);
  forget_fd(static_cast<u64>(pipe_fds[0]));
  EXPECT_TRUE(never_waits(turn, static_cast<u64>(pipe_fds[0])));
  for (int fd : {file, folder, null, pipe_fds[0], pipe_fds[1]}) ::close(fd);
  forget_all_fds();
}

}  // namespace
}  // namespace detrec::guest::syscall
