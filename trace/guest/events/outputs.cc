// Which writes are the program's output: those that reach what stdout or stderr were when it started, by
// whatever descriptor.
#include <asm/stat.h>
#include <asm/unistd_64.h>

#include "trace/guest/base/syscall.h"
#include "trace/guest/events/calls.h"
#include "trace/guest/syscall/fd_notes.h"

namespace detrec::guest::events {
namespace {

struct Identity {
  bool known;
  u64 device, inode;
  bool operator==(const Identity&) const = default;
};

Identity outputs[3];  // by descriptor number

Identity identify(u64 fd) {
  struct stat status;
  if (failed(raw_syscall(__NR_fstat, fd, arg(&status)))) return {};
  return {true, status.st_dev, status.st_ino};
}

}  // namespace

void start_outputs() {
  outputs[1] = identify(1);
  outputs[2] = identify(2);
}

bool writes_output_unseen(Turn& turn, i32 number) {
  int to;  // the argument that says where
  switch (number) {
    case __NR_sendfile:
    case __NR_vmsplice:
      to = 0;
      break;
    case __NR_tee:
      to = 1;
      break;
    case __NR_splice:
    case __NR_copy_file_range:
      to = 2;
      break;
    default:
      return false;
  }
  return output_of(turn, static_cast<u32>(turn.arg(to))) != wire::Direction::kIn;
}

wire::Direction output_of(Turn& turn, u64 fd) {
  using syscall::FdNote;
  if (syscall::has_note(turn, fd, FdNote::kNoOutput)) return wire::Direction::kIn;
  if (syscall::has_note(turn, fd, FdNote::kStdout)) return wire::Direction::kOut;
  if (syscall::has_note(turn, fd, FdNote::kStderr)) return wire::Direction::kError;
  Identity identity = identify(fd);
  bool out = identity.known && identity == outputs[1], error = identity.known && identity == outputs[2];
  if (out && error) (fd == 2 ? out : error) = false;  // both the same terminal, say
  syscall::add_note(turn, fd, out ? FdNote::kStdout : error ? FdNote::kStderr : FdNote::kNoOutput);
  return out ? wire::Direction::kOut : error ? wire::Direction::kError : wire::Direction::kIn;
}

}  // namespace detrec::guest::events
