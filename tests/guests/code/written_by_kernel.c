// Code that the kernel writes: read, pread, readv, recv, recvmsg, getrandom-sized junk replaced,
// /proc/self/mem, process_vm_writev to ourselves, a result structure stored over code.
#include <fcntl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

#include "code/jit.h"

static unsigned char* code;
static unsigned char bytes[6];

static void prepare(int value) { emit_ret(emit_mov_eax(bytes, value)); }

static void expect(const char* how, int value) {
  int got = ((Code)code)(0);
  printf("%s: %d\n", how, got);
  EXPECT_EQ(got, value);
}

int main(void) {
  code = map_code(kPage, kAll);
  emit_ret(emit_mov_eax(code, 1));
  expect("plain", 1);
  int ends[2], sockets[2];
  REQUIRE(pipe(ends) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
  prepare(2);
  REQUIRE(write(ends[1], bytes, 6) == 6);
  EXPECT_EQ(read(ends[0], code, 6), 6);
  expect("read", 2);
  int fd = open("bytes", O_RDWR | O_CREAT, 0600);
  prepare(3);
  REQUIRE(pwrite(fd, bytes, 6, 100) == 6);
  EXPECT_EQ(pread(fd, code, 6, 100), 6);
  expect("pread", 3);
  prepare(4);
  REQUIRE(write(ends[1], bytes, 6) == 6);
  struct iovec parts[2] = {{code, 3}, {code + 3, 3}};
  EXPECT_EQ(readv(ends[0], parts, 2), 6);
  expect("readv", 4);
  prepare(5);
  REQUIRE(send(sockets[0], bytes, 6, 0) == 6);
  EXPECT_EQ(recv(sockets[1], code, 6, 0), 6);
  expect("recv", 5);
  prepare(6);
  REQUIRE(send(sockets[0], bytes, 6, 0) == 6);
  struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
  EXPECT_EQ(recvmsg(sockets[1], &message, 0), 6);
  expect("recvmsg", 6);
  prepare(7);
  int memory = open("/proc/self/mem", O_RDWR);
  REQUIRE(memory >= 0);
  EXPECT_EQ(pwrite(memory, bytes, 6, (off_t)(uintptr_t)code), 6);
  expect("/proc/self/mem", 7);
  prepare(8);
  struct iovec local = {bytes, 6}, remote = {code, 6};
  EXPECT_EQ(process_vm_writev(getpid(), &local, 1, &remote, 1, 0), 6);
  expect("process_vm_writev", 8);
  // A word of a system call's result lands in the immediate: wait status, pipe descriptors, time.
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) _exit(9);
  EXPECT_EQ(waitpid(child, (int*)(code + 1), 0), child);
  expect("wait status", 9 << 8);
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, (int*)(code + 1)), 0);  // writes over the ret as well
  emit_ret(code + 5);
  int got = ((Code)code)(0);
  EXPECT(got > 2 && got < 100);
  struct timespec* now = (struct timespec*)(code + 1);
  EXPECT_EQ(clock_getres(CLOCK_MONOTONIC, now), 0);
  emit_ret(code + 5);
  expect("clock_getres", 0);
  // A read-only, executable page written through /proc/self/mem, as debuggers do.
  REQUIRE(mprotect(code, kPage, kReadExecute) == 0);
  expect("protected", 0);
  prepare(10);
  if (pwrite(memory, bytes, 6, (off_t)(uintptr_t)code) == 6) EXPECT_EQ(((Code)code)(0), 10);
  EXPECT_ERROR(read(open("bytes", O_RDONLY), code, 6), EFAULT);
  return guest_result();
}
