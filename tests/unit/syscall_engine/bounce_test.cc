// Calls with stand-ins: while the kernel is at work nothing of the guest's changes, afterwards exactly what
// it wrote.
#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "tests/unit/syscall_engine/fake_engine.h"
#include "trace/guest/syscall/blocking.h"

namespace detrec::guest::syscall {
namespace {

template <class T>
u64 at(T* p) {
  return reinterpret_cast<u64>(p);
}

class BounceTest : public testing::Test {
 protected:
  BounceTest() {
    process().thread_count = 2;  // not alone
    test::written.clear();
  }
  ~BounceTest() override { test::after_wait = nullptr; }

  /// The call as bounced_wait makes it. `memory` must be as it was when the kernel has answered.
  SysResult call(int nr, const Args& args, const void* memory, std::size_t bytes) {
    std::vector<char> before(static_cast<const char*>(memory), static_cast<const char*>(memory) + bytes);
    test::after_wait = [&] {
      EXPECT_EQ(std::memcmp(before.data(), memory, bytes), 0) << "written while waiting";
    };
    return bounced_wait(held_.turn(), *syscalls::find(nr), args);
  }

  test::HeldTurn held_;
};

TEST_F(BounceTest, ReadCopiesWhatCame) {
  int fds[2];
  ASSERT_EQ(pipe(fds), 0);
  ASSERT_EQ(write(fds[1], "hello", 5), 5);
  char buffer[100];
  std::memset(buffer, 'x', sizeof buffer);
  EXPECT_EQ(
      call(SYS_read, {{static_cast<u64>(fds[0]), at(buffer), sizeof buffer, 0, 0, 0}}, buffer, sizeof buffer),
      5);
  EXPECT_EQ(std::memcmp(buffer, "helloxxx", 8), 0);
  ASSERT_EQ(test::written.size(), 1u);
  EXPECT_EQ(test::written[0].begin, at(buffer));
  EXPECT_EQ(test::written[0].bytes, 5u);
  ::close(fds[0]);
  ::close(fds[1]);
}

TEST_F(BounceTest, LargeBuffersHaveMemoryOfTheirOwn) {
  int fds[2];
  ASSERT_EQ(pipe(fds), 0);
  ASSERT_EQ(write(fds[1], "hello", 5), 5);
  std::vector<char> buffer(3 << 20, 'x');
  EXPECT_EQ(call(SYS_read, {{static_cast<u64>(fds[0]), at(buffer.data()), buffer.size(), 0, 0, 0}},
                 buffer.data(), 10),
            5);
  EXPECT_EQ(std::memcmp(buffer.data(), "hellox", 6), 0);
  ::close(fds[0]);
  ::close(fds[1]);
}

TEST_F(BounceTest, ReceiveWritesAddressAndLength) {
  int fds[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_DGRAM, 0, fds), 0);
  ASSERT_EQ(send(fds[1], "datagram", 8, 0), 8);
  struct {
    char buffer[4];
    sockaddr_storage address;
    socklen_t length;
  } memory;
  std::memset(&memory, 0x55, sizeof memory);
  memory.length = sizeof memory.address;
  Args args{{static_cast<u64>(fds[0]), at(memory.buffer), sizeof memory.buffer, 0, at(&memory.address),
             at(&memory.length)}};
  EXPECT_EQ(call(SYS_recvfrom, args, &memory, sizeof memory), 4);
  EXPECT_EQ(std::memcmp(memory.buffer, "data", 4), 0);
  EXPECT_EQ(memory.length, 0u);  // the sender has no name
  EXPECT_EQ(reinterpret_cast<char*>(&memory.address)[0], 0x55);
  ::close(fds[0]);
  ::close(fds[1]);
}

TEST_F(BounceTest, NothingIsCopiedAfterAnError) {
  int status = 77;
  EXPECT_EQ(call(SYS_wait4, {{static_cast<u64>(-1), at(&status), 0, 0, 0, 0}}, &status, sizeof status),
            -ECHILD);
  EXPECT_EQ(status, 77);
  EXPECT_TRUE(test::written.empty());
}

TEST_F(BounceTest, WaitWritesStatusAndUsage) {
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) _exit(9);
  struct {
    int status;
    char usage[144];
  } memory;
  std::memset(&memory, 0x55, sizeof memory);
  Args args{{static_cast<u64>(child), at(&memory.status), 0, at(memory.usage), 0, 0}};
  EXPECT_EQ(call(SYS_wait4, args, &memory, sizeof memory), child);
  EXPECT_EQ(memory.status, 9 << 8);
  EXPECT_NE(memory.usage[143], 0x55);
}

TEST_F(BounceTest, EventsAreCopiedOneByOne) {
  int epoll = epoll_create1(0), fds[2];
  ASSERT_EQ(pipe(fds), 0);
  epoll_event want{EPOLLOUT, {.u64 = 1234}};
  ASSERT_EQ(epoll_ctl(epoll, EPOLL_CTL_ADD, fds[1], &want), 0);
  epoll_event events[5];
  std::memset(events, 0x55, sizeof events);
  EXPECT_EQ(call(SYS_epoll_wait, {{static_cast<u64>(epoll), at(events), 5, 0, 0, 0}}, events, sizeof events),
            1);
  EXPECT_EQ(events[0].data.u64, 1234u);
  EXPECT_EQ(reinterpret_cast<char*>(&events[1])[0], 0x55);
  for (int fd : {epoll, fds[0], fds[1]}) ::close(fd);
}

TEST_F(BounceTest, AMemoryFaultIsTheCallersError) {
  char byte;
  int fds[2];
  ASSERT_EQ(pipe(fds), 0);
  ::close(fds[1]);
  EXPECT_EQ(call(SYS_read, {{static_cast<u64>(fds[0]), at(&byte), 1, 0, 0, 0}}, &byte, 1), 0);
  EXPECT_EQ(call(SYS_read, {{static_cast<u64>(12345), at(&byte), 1, 0, 0, 0}}, &byte, 1), -EBADF);
  ::close(fds[0]);
}

}  // namespace
}  // namespace detrec::guest::syscall
