// Sockets: receiving and sending beside other threads, and no way for the engine's descriptors into a
// message.

#include <asm/errno.h>
#include <asm/unistd_64.h>
#include <linux/fcntl.h>

#include "trace/guest/base/probe.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/memory/guest_memory.h"
#include "trace/guest/syscall/blocking.h"
#include "trace/guest/syscall/descriptors.h"
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

SysResult now(long nr, const Args& a) { return raw_syscall(nr, a[0], a[1], a[2], a[3], a[4], a[5]); }

bool is_nonblocking(u64 fd) {
  SysResult flags = raw_syscall(__NR_fcntl, fd, F_GETFL);
  return failed(flags) || (flags & O_NONBLOCK) != 0;
}

/// The argument that holds the MSG_* flags.
int flags_index(const SyscallRow& row) {
  bool message = row.number == __NR_recvmsg || row.number == __NR_sendmsg;
  return message ? 2 : 3;
}

/// recvmsg with a message header, name, control data and buffers of the engine's.
SysResult bounced_recvmsg(Turn& turn, const SyscallRow& row, const Args& args) {
  Bounce bounce(turn);
  Msghdr guest;
  if (!read_guest(guest, args[1])) return error(EFAULT);
  if (guest.iov_count > kMaxIovecs) return now(row.number, args);
  auto* guest_iov = static_cast<Iovec*>(bounce.copy_in(guest.iov, guest.iov_count * sizeof(Iovec)));
  if (guest_iov == nullptr) return error(EFAULT);
  Msghdr* engine = static_cast<Msghdr*>(bounce.take(sizeof(Msghdr)));
  *engine = guest;
  auto* engine_iov = static_cast<Iovec*>(bounce.take(guest.iov_count * sizeof(Iovec)));
  u64 total = 0;
  for (u64 i = 0; i < guest.iov_count; ++i) total += guest_iov[i].length;
  if (total > kMaxTransfer) return kernel_wait(turn, row.number, args);
  auto* buffer = static_cast<u8*>(bounce.take(total));
  for (u64 i = 0, at = 0; i < guest.iov_count; at += guest_iov[i++].length) {
    engine_iov[i] = {arg(buffer) + at, guest_iov[i].length};
  }
  engine->iov = arg(engine_iov);
  if (guest.name != 0) engine->name = arg(bounce.take(guest.name_length));
  if (guest.control != 0) engine->control = arg(bounce.take(guest.control_length));

  Args engine_args = args;
  engine_args[1] = arg(engine);
  SysResult r = kernel_wait(turn, row.number, engine_args);
  if (failed(r)) return r;

  bool good = true;
  u64 left = static_cast<u64>(r) < total ? static_cast<u64>(r) : total;  // MSG_TRUNC reports more than came
  for (u64 i = 0; i < guest.iov_count && left != 0; ++i) {
    u64 part = guest_iov[i].length < left ? guest_iov[i].length : left;
    good &= memory::write_guest(turn, guest_iov[i].base, reinterpret_cast<void*>(engine_iov[i].base), part);
    left -= part;
  }
  if (guest.name != 0) {
    u32 length = engine->name_length < guest.name_length ? engine->name_length : guest.name_length;
    good &= memory::write_guest(turn, guest.name, reinterpret_cast<void*>(engine->name), length);
  }
  if (guest.control != 0) {
    good &= memory::write_guest(turn, guest.control, reinterpret_cast<void*>(engine->control),
                                engine->control_length);
  }
  engine->name = guest.name;
  engine->control = guest.control;
  engine->iov = guest.iov;
  good &= memory::write_guest(turn, args[1], *engine);
  return good ? r : error(EFAULT);
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
  SysResult sent = now(row.number, attempt);
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
  // Many messages at once: the kernel writes the guest's memory while others run (docs/limits.md).
  if (row.number == __NR_recvmmsg) return kernel_wait(turn, row.number, args);
  if ((args[flags] & kWaitAll) == 0) {
    Args attempt = args;
    attempt[flags] |= kDontWait;
    SysResult r = now(row.number, attempt);
    if (r != error(EAGAIN) || (args[flags] & kDontWait) != 0 || is_nonblocking(args[0])) return r;
  }
  return row.number == __NR_recvmsg ? bounced_recvmsg(turn, row, args) : bounced_wait(turn, row, args);
}

SysResult send_family(Turn& turn, const SyscallRow& row, const Args& args) {
  if (passes_engine_fd(row, args)) return error(EBADF);
  if (alone()) return kernel_wait(turn, row.number, args);
  if (row.number == __NR_sendto && (args[3] & kDontWait) == 0) return send_to(turn, row, args);
  return kernel_wait(turn, row.number, args);
}

}  // namespace detrec::guest::syscall
