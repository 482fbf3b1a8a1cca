#include "trace/guest/divert/output.h"

#include <asm/errno.h>
#include <asm/ioctls.h>
#include <asm/stat.h>
#include <asm/unistd_64.h>

#include "trace/guest/debug/debugger.h"
#include "trace/guest/memory/guest_memory.h"
#include "trace/guest/syscall/ranges.h"

namespace detrec::guest::divert {
namespace {

using syscall::Args;
using syscall::error;

/// Bytes written, or -EFAULT when there are none.
SysResult write(Turn& turn, i32 fd, GuestAddr from, u64 size) {
  u64 done = 0;
  while (done < size) {
    u64 to_page_end = kPageSize - (from + done) % kPageSize;
    u64 piece = size - done < to_page_end ? size - done : to_page_end;
    u8 byte;
    if (!read_guest(byte, from + done)) break;
    debug::pass_output(turn, fd, from + done, piece);
    done += piece;
  }
  return done == 0 && size != 0 ? error(EFAULT) : static_cast<SysResult>(done);
}

SysResult write_vector(Turn& turn, i32 fd, GuestAddr array, u64 count) {
  SysResult total = 0;
  syscall::for_each_iovec(array, count, [&](const syscall::Iovec& part) {
    SysResult written = write(turn, fd, part.base, part.length);
    if (failed(written)) return false;
    total += written;
    return static_cast<u64>(written) == part.length;
  });
  return total;
}

SysResult describe(Turn& turn, GuestAddr to) {
  struct stat status {};
  status.st_mode = 0020620;  // a character device
  status.st_nlink = 1;
  status.st_rdev = 0x8800;  // a pseudo terminal
  status.st_blksize = 1024;
  return memory::write_guest(turn, to, status) ? 0 : error(EFAULT);
}

/// TCGETS; the rest of a terminal is not there.
SysResult control(Turn& turn, const Args& args) {
  struct Termios {
    u8 byte[36];
  };
  if (static_cast<u32>(args[1]) != TCGETS) return error(ENOTTY);
  return memory::write_guest(turn, args[2], Termios{}) ? 0 : error(EFAULT);
}

}  // namespace

bool is_output(i32 nr, const Args& args) {
  auto fd = static_cast<u32>(args[0]);
  if (fd != 1 && fd != 2) return false;
  u8 path = 1;
  return nr != __NR_newfstatat || (read_guest(path, args[1]) && path == 0);
}

SysResult on_output(Turn& turn, i32 nr, const Args& args) {
  auto fd = static_cast<i32>(args[0]);
  switch (nr) {
    case __NR_write:
      return write(turn, fd, args[1], args[2]);
    case __NR_writev:
      return write_vector(turn, fd, args[1], args[2]);
    case __NR_fstat:
      return describe(turn, args[1]);
    case __NR_newfstatat:
      return describe(turn, args[2]);
    default:
      return control(turn, args);
  }
}

}  // namespace detrec::guest::divert
