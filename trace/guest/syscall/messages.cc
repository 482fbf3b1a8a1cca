// Sockets: receiving and sending beside other threads, and no way for the engine's descriptors into a
// message.

#include <asm/errno.h>
#include <asm/unistd_64.h>
#include <linux/fcntl.h>

#include "trace/guest/base/probe.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/syscall/blocking.h"
#include "trace/guest/syscall/descriptors.h"
#include "trace/guest/syscall/host_clock.h"
#include "trace/guest/syscall/ranges.h"

namespace detrec::guest::syscall {
namespace {

// linux/socket.h of the kernel, not of its user headers.
constexpr u64 kDontWait = 0x40, kWaitAll = 0x100;
constexpr i32 kSolSocket = 1, kScmRights = 1;

/// struct cmsghdr.
struct ControlHeader {
  u64 length;  ///< of header and data
  i32 level;
  i32 type;
};

bool is_nonblocking(u64 fd) {
  SysResult flags = raw_syscall(__NR_fcntl, fd, F_GETFL);
  return failed(flags) || (flags & O_NONBLOCK) != 0;
}

/// The argument that holds the MSG_* flags.
int flags_index(const SyscallRow& row) {
  bool message = row.number == __NR_recvmsg || row.number == __NR_sendmsg;
  return message ? 2 : 3;
}

/// Replaces the buffers of a message header in engine memory by stand-ins.
bool stand_in_for_buffers(Bounce& bounce, Msghdr& header) {
  if (header.iov_count > kMaxIovecs) return true;  // the kernel refuses it
  auto* vector = static_cast<Iovec*>(bounce.take(header.iov_count * sizeof(Iovec)));
  if (vector == nullptr || !read_guest(vector, header.iov, header.iov_count * sizeof(Iovec))) return false;
  auto replace = [&bounce](GuestAddr& address, u64 bytes) {
    if (address == 0 || bytes == 0) return true;
    void* buffer = bytes > kMaxTransfer ? nullptr : bounce.stand_in(address, bytes);
    address = arg(buffer);
    return buffer != nullptr;
  };
  for (u64 i = 0; i < header.iov_count; ++i) {
    if (!replace(vector[i].base, vector[i].length)) return false;
  }
  header.iov = arg(vector);
  return replace(header.name, header.name_length) && replace(header.control, header.control_length);
}

/// recvmsg and recvmmsg.
SysResult bounced_receive(Turn& turn, const SyscallRow& row, const Args& args) {
  Bounce bounce(turn);
  bool many = row.number == __NR_recvmmsg;
  u64 count = many ? static_cast<u32>(args[2]) : 1;
  if (count > kMaxIovecs) count = kMaxIovecs;  // as the kernel
  u64 size = many ? sizeof(Mmsghdr) : sizeof(Msghdr);
  void* headers = bounce.stand_in(args[1], count * size);
  if (headers == nullptr) return error(EFAULT);
  for (u64 i = 0; i < count; ++i) {
    auto* header = reinterpret_cast<Msghdr*>(static_cast<u8*>(headers) + i * size);
    // Unreadable (the kernel will say so), or too many of them.
    if (!stand_in_for_buffers(bounce, *header)) return kernel_wait(turn, row.number, args);
  }
  Args engine_args = args;
  engine_args[1] = arg(headers);
  if (many && args[4] != 0) {
    void* timeout = bounce.stand_in(args[4], sizeof(Timespec));
    if (timeout == nullptr) return error(EFAULT);
    engine_args[4] = arg(timeout);
  }
  return bounce.wait(turn, row, engine_args);
}

/// True when the control data of a message passes on a descriptor of the engine's.
bool passes_engine_fd(const Msghdr& header) {
  if (header.control == 0) return false;
  for (u64 at = 0; at + sizeof(ControlHeader) <= header.control_length;) {
    ControlHeader control;
    if (!read_guest(control, header.control + at) || control.length < sizeof(ControlHeader)) return false;
    if (control.level == kSolSocket && control.type == kScmRights) {
      for (u64 fd_at = sizeof(ControlHeader); fd_at + sizeof(i32) <= control.length; fd_at += sizeof(i32)) {
        i32 fd;
        if (read_guest(fd, header.control + at + fd_at) && is_engine_fd(fd)) return true;
      }
    }
    u64 step = (control.length + 7) & ~u64{7};
    if (step > header.control_length - at) return false;
    at += step;
  }
  return false;
}

/// The same for every message of the call.
bool passes_engine_fd(const SyscallRow& row, const Args& args) {
  Msghdr header;
  if (row.number == __NR_sendmsg) return read_guest(header, args[1]) && passes_engine_fd(header);
  if (row.number != __NR_sendmmsg) return false;
  for (u64 i = 0; i < static_cast<u32>(args[2]) && i < kMaxIovecs; ++i) {
    if (!read_guest(header, args[1] + i * sizeof(Mmsghdr))) return false;
    if (passes_engine_fd(header)) return true;
  }
  return false;
}

/// sendto: what goes without waiting, then the rest.
SysResult send_to(Turn& turn, const SyscallRow& row, const Args& args) {
  Args attempt = args;
  attempt[3] |= kDontWait;
  SysResult sent = execute(row.number, attempt);
  bool complete = sent == static_cast<SysResult>(args[2]);
  if ((failed(sent) && sent != error(EAGAIN)) || complete || is_nonblocking(args[0])) return sent;
  if (sent == error(EAGAIN)) return kernel_wait(turn, row.number, args);
  Args rest = args;
  rest[1] += static_cast<u64>(sent);
  rest[2] -= static_cast<u64>(sent);
  SysResult more = kernel_wait(turn, row.number, rest);
  return failed(more) ? sent : sent + more;
}

}  // namespace

SysResult receive_family(Turn& turn, const SyscallRow& row, const Args& args) {
  if (alone()) return kernel_wait(turn, row.number, args);
  int flags = flags_index(row);
  // Waiting for all of it, or for many messages, cannot be tried in parts.
  if ((args[flags] & kWaitAll) == 0 && row.number != __NR_recvmmsg) {
    Args attempt = args;
    attempt[flags] |= kDontWait;
    SysResult r = execute(row.number, attempt);
    if (r != error(EAGAIN) || (args[flags] & kDontWait) != 0 || is_nonblocking(args[0])) return r;
  }
  return row.number == __NR_recvfrom ? bounced_wait(turn, row, args) : bounced_receive(turn, row, args);
}

SysResult send_family(Turn& turn, const SyscallRow& row, const Args& args) {
  if (passes_engine_fd(row, args)) return error(EBADF);
  if (alone()) return kernel_wait(turn, row.number, args);
  if (row.number == __NR_sendto && (args[3] & kDontWait) == 0) return send_to(turn, row, args);
  return kernel_wait(turn, row.number, args);
}

}  // namespace detrec::guest::syscall
