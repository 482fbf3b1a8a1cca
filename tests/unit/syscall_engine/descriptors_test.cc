#include "trace/guest/syscall/descriptors.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "tests/unit/syscall_engine/fake_engine.h"

namespace detrec::guest::syscall {
namespace {

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

/// Runs the body in a forked child, whose descriptors and limits it may spoil; it returns true when all is
/// well.
template <class Body>
void in_child(Body body) {
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    test::HeldTurn held;
    for (int fd = 3; fd < 64; ++fd) ::close(fd);
    body(held);
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

/// Two descriptors to play the engine's, placed.
void place(test::HeldTurn&) {
  int engine = open("/proc/self/exe", O_RDONLY), launch = open("/dev/zero", O_RDWR);
  process().own_fds[kImageFd] = engine;
  process().own_fds[kLaunchFd] = launch;
  place_engine_fds();
  EXPECT_FALSE(is_open(engine));
  EXPECT_FALSE(is_open(launch));
}

const SyscallRow& row_of(int nr) { return *syscalls::find(nr); }

TEST(Descriptors, GoAboveTheSoftLimitAndLeaveItAlone) {
  in_child([](test::HeldTurn& held) {
    rlimit limit{512, 2048}, after;
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    place(held);
    EXPECT_GE(process().own_fds[kImageFd], 1024);
    EXPECT_GE(process().own_fds[kLaunchFd], 1024);
    EXPECT_TRUE(is_open(process().own_fds[kImageFd]));
    EXPECT_TRUE(is_open(process().own_fds[kLaunchFd]));
    getrlimit(RLIMIT_NOFILE, &after);
    EXPECT_EQ(after.rlim_cur, 512u);
    EXPECT_EQ(after.rlim_max, 2048u);
    // What execve of the engine needs.
    EXPECT_EQ(::fcntl(process().own_fds[kImageFd], F_GETFD), 0);
  });
}

TEST(Descriptors, StayAtTheTopOfASmallHardLimit) {
  in_child([](test::HeldTurn& held) {
    rlimit limit{32, 32}, after;
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    place(held);
    // Above it with CAP_SYS_RESOURCE, at its end without.
    EXPECT_GE(process().own_fds[kImageFd], 32 - kOwnFds);
    EXPECT_GE(process().own_fds[kLaunchFd], 32 - kOwnFds);
    getrlimit(RLIMIT_NOFILE, &after);
    EXPECT_EQ(after.rlim_cur, 32u);
    EXPECT_EQ(after.rlim_max, 32u);
  });
}

TEST(Descriptors, AreNotOpenToTheGuest) {
  in_child([](test::HeldTurn& held) {
    place(held);
    EXPECT_TRUE(is_engine_fd(process().own_fds[kImageFd]));
    EXPECT_TRUE(is_engine_fd(process().own_fds[kLaunchFd]));
    EXPECT_FALSE(is_engine_fd(0));
    EXPECT_FALSE(is_engine_fd(-1));
    for (i32 fd : {process().own_fds[kImageFd], process().own_fds[kLaunchFd]}) {
      held.set_args({{static_cast<u64>(fd), 50, 0, 0, 0, 0}});
      EXPECT_EQ(close(held.turn(), row_of(3)), -EBADF);
      EXPECT_EQ(dup2(held.turn(), row_of(33)), -EBADF);
      EXPECT_TRUE(is_open(fd));
    }
  });
}

TEST(Descriptors, CloseRangeLeavesThem) {
  in_child([](test::HeldTurn& held) {
    place(held);
    auto low = static_cast<u64>(std::min(process().own_fds[kImageFd], process().own_fds[kLaunchFd]));
    auto high = static_cast<u64>(std::max(process().own_fds[kImageFd], process().own_fds[kLaunchFd]));
    const u64 ranges[][2] = {{3, ~0u},     {3, low},    {low, high},    {low, low},
                             {high, high}, {high, ~0u}, {low + 1, high}};
    for (auto [first, last] : ranges) {
      ASSERT_EQ(::dup2(0, 10), 10);
      held.set_args({{first, last, 0, 0, 0, 0}});
      EXPECT_EQ(close_range(held.turn()), 0);
      EXPECT_EQ(is_open(10), !(first <= 10 && 10 <= last));
      EXPECT_TRUE(is_open(process().own_fds[kImageFd]));
      EXPECT_TRUE(is_open(process().own_fds[kLaunchFd]));
    }
    held.set_args({{5, 4, 0, 0, 0, 0}});
    EXPECT_EQ(close_range(held.turn()), -EINVAL);
    held.set_args({{3, ~0u, 64, 0, 0, 0}});
    EXPECT_EQ(close_range(held.turn()), -EINVAL);
  });
}

TEST(Descriptors, MakeWayForDup2) {
  in_child([](test::HeldTurn& held) {
    rlimit limit{2048, 2048};
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    place(held);
    // The guest's limit reaches their numbers.
    limit.rlim_cur = 2048;
    i32 wanted[] = {process().own_fds[kImageFd], process().own_fds[kLaunchFd]};
    for (i32 fd : wanted) {
      if (fd >= 2048) continue;
      held.set_args({{0, static_cast<u64>(fd), 0, 0, 0, 0}});
      EXPECT_EQ(dup2(held.turn(), row_of(33)), fd);
      EXPECT_FALSE(is_engine_fd(fd));
      EXPECT_TRUE(is_open(process().own_fds[kImageFd]));
      EXPECT_TRUE(is_open(process().own_fds[kLaunchFd]));
    }
    held.set_args({{777, static_cast<u64>(process().own_fds[kImageFd]), 0, 0, 0, 0}});
    i32 before = process().own_fds[kImageFd];
    EXPECT_EQ(dup2(held.turn(), row_of(33)), -EBADF);  // 777 is not open
    EXPECT_EQ(process().own_fds[kImageFd], before);
  });
}

}  // namespace
}  // namespace detrec::guest::syscall
