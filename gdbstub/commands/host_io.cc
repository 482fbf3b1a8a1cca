// vFile: files of the recorded system. gdb manual, "Host I/O Packets" and, for numbers and structures,
// "Protocol-specific Representation of Datatypes".
#include <fcntl.h>

#include <cerrno>

#include "gdbstub/commands/commands.h"
#include "gdbstub/packet/framer.h"
#include "gdbstub/packet/hex.h"

namespace detrec::gdbstub::commands {

namespace {

/// The protocol's errno numbers are Linux's, but for these.
int protocol_errno(int code) {
  switch (code) {
    case ENOSYS:
      return 88;
    case ENAMETOOLONG:
      return 91;
    case EPERM:
    case ENOENT:
    case EINTR:
    case EIO:
    case EBADF:
    case EACCES:
    case EFAULT:
    case EBUSY:
    case EEXIST:
    case ENODEV:
    case ENOTDIR:
    case EISDIR:
    case EINVAL:
    case ENFILE:
    case EMFILE:
    case EFBIG:
    case ENOSPC:
    case ESPIPE:
    case EROFS:
      return code;
    default:
      return 9999;  // EUNKNOWN
  }
}

Reply failed(int code) {
  return Reply::text("F-1," + packet::hex_number(static_cast<std::uint64_t>(protocol_errno(code))));
}

Reply result(std::uint64_t value) { return Reply::text("F" + packet::hex_number(value)); }

Reply result(std::string_view bytes, std::uint64_t value) {
  return Reply::text("F" + packet::hex_number(value) + ";" + packet::escape(bytes));
}

ProcessId files_of(Session& session) {
  return session.client().file_process.value_or(session.general_process());
}

std::optional<std::int32_t> read_fd(Cursor& args) {
  const auto number = args.number();
  if (!number || *number > INT32_MAX) return std::nullopt;
  return static_cast<std::int32_t>(*number);
}

/// struct stat of the protocol: big endian, 64 bytes.
std::string stat_bytes(const FileStat& stat) {
  std::string bytes;
  const auto add = [&bytes](std::uint64_t value, int size) {
    for (int shift = 8 * (size - 1); shift >= 0; shift -= 8)
      bytes += static_cast<char>(value >> shift & 0xff);
  };
  constexpr std::uint64_t kBlock = 4096;
  add(stat.device, 4);
  add(stat.inode, 4);
  add(stat.mode, 4);
  add(stat.links, 4);
  add(stat.uid, 4);
  add(stat.gid, 4);
  add(0, 4);  // rdev
  add(stat.size, 8);
  add(kBlock, 8);
  add((stat.size + 511) / 512, 8);
  for (int i = 0; i < 3; ++i) add(static_cast<std::uint64_t>(stat.mtime), 4);  // atime, mtime, ctime
  return bytes;
}

Reply set_file_process(Session& session, Cursor args) {
  const auto number = args.number();
  if (!number || *number > INT32_MAX || !args.at_end()) return failed(EINVAL);
  session.client()
      .file_process.reset();  // 0: the files that the stub itself sees, which are the recorded ones
  if (*number != 0) session.client().file_process = ProcessId{static_cast<std::int32_t>(*number)};
  return result(0);
}

Reply open(Session& session, Cursor args) {
  const auto path = packet::text_from_hex(args.field(','));
  const auto flags = args.number();
  if (!path || !flags || !args.take(',')) return failed(EINVAL);
  // The protocol's O_WRONLY, O_RDWR, O_APPEND, O_CREAT, O_TRUNC and O_EXCL; 0 is reading.
  constexpr std::uint64_t kWriting = 0x1 | 0x2 | 0x8 | 0x200 | 0x400 | 0x800;
  if ((*flags & kWriting) != 0) return failed(EROFS);
  const auto fd = session.client().files.open(files_of(session), *path);
  return fd ? result(static_cast<std::uint64_t>(fd.value())) : failed(fd.error().code);
}

Reply pread(Session& session, Cursor args) {
  const auto fd = read_fd(args);
  if (!fd || !args.take(',')) return failed(EINVAL);
  const auto count = args.number();
  if (!count || !args.take(',')) return failed(EINVAL);
  const auto offset = args.number();
  if (!offset || !args.at_end()) return failed(EINVAL);
  // gdb asks for as much as a packet holds even where it wants one header, and takes half a second for it.
  constexpr std::size_t kLimit = 16 * 1024;
  static_assert(kLimit + 32 <= packet::kMaxPacket);  // "F<count>;"
  const auto bytes = session.client().files.pread(*fd, *offset, std::min<std::uint64_t>(*count, kLimit));
  if (!bytes) return failed(bytes.error().code);
  std::size_t used = 0;
  const auto text = packet::escape_up_to(packet::as_text(bytes.value()), kLimit, used);
  return Reply::text("F" + packet::hex_number(used) + ";" + text);
}

Reply stat_reply(const Result<FileStat>& stat) {
  if (!stat) return failed(stat.error().code);
  const auto bytes = stat_bytes(stat.value());
  return result(bytes, bytes.size());
}

Reply fstat(Session& session, Cursor args) {
  const auto fd = read_fd(args);
  if (!fd || !args.at_end()) return failed(EINVAL);
  return stat_reply(session.client().files.fstat(*fd));
}

Reply stat(Session& session, Cursor args) {
  const auto path = packet::text_from_hex(args.rest());
  if (!path) return failed(EINVAL);
  auto& files = session.client().files;
  const auto fd = files.open(files_of(session), *path);
  if (!fd) return failed(fd.error().code);
  const auto found = files.fstat(fd.value());
  if (const auto closed = files.close(fd.value()); !closed) return failed(closed.error().code);
  return stat_reply(found);
}

Reply close(Session& session, Cursor args) {
  const auto fd = read_fd(args);
  if (!fd || !args.at_end()) return failed(EINVAL);
  const auto status = session.client().files.close(*fd);
  return status ? result(0) : failed(status.error().code);
}

Reply readlink(Session& session, Cursor args) {
  const auto path = packet::text_from_hex(args.rest());
  if (!path) return failed(EINVAL);
  const auto link = session.client().files.readlink(files_of(session), *path);
  return link ? result(link.value(), link.value().size()) : failed(link.error().code);
}

Reply read_only(Session&, Cursor) { return failed(EROFS); }

}  // namespace

Reply host_io(Session& session, Cursor args) {
  struct Row {
    std::string_view name;
    Reply (*handler)(Session&, Cursor);
  };
  static constexpr Row kRows[] = {{"setfs", set_file_process},
                                  {"open", open},
                                  {"pread", pread},
                                  {"fstat", fstat},
                                  {"stat", stat},
                                  {"close", close},
                                  {"readlink", readlink},
                                  {"pwrite", read_only},
                                  {"unlink", read_only}};
  const auto name = args.field(':');
  for (const auto& row : kRows) {
    if (row.name == name) return row.handler(session, args);
  }
  return Reply::empty();
}

}  // namespace detrec::gdbstub::commands
