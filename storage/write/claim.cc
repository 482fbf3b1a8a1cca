#include "storage/write/claim.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <span>

#include "storage/sqlite_header.h"
#include "storage/trace_info.h"

namespace detrec::storage {
namespace {

event::Error io_error(int code, const std::filesystem::path& path) {
  return event::Error{event::ErrorCode::kIo, std::strerror(code), path.string()};
}

bool has_trace_header(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return false;
  std::array<unsigned char, sqlite_header::kBytes> header = {};
  const ssize_t got = ::read(fd, header.data(), header.size());
  ::close(fd);
  if (got < 0 || !sqlite_header::is_header(std::span(header).first(static_cast<std::size_t>(got))))
    return false;
  const auto id = static_cast<std::int32_t>(
      sqlite_header::big_endian(std::span(header).subspan(sqlite_header::kApplicationIdAt, 4)));
  // Of a recording that was cut off early, the mark may be in the journal still.
  return id == kApplicationId || (id == 0 && ::access((path.string() + "-wal").c_str(), F_OK) == 0);
}

/// Devices, links, programs and whatever else a mistyped name may meet are not for us to remove.
Status check_replaceable(const std::filesystem::path& path) {
  struct stat status = {};
  if (::lstat(path.c_str(), &status) != 0) return event::Done{};  // nothing there, or opening will say why
  if (S_ISREG(status.st_mode) && (status.st_size == 0 || has_trace_header(path))) return event::Done{};
  return event::Error{event::ErrorCode::kIo, "exists and is not a trace; it is left alone", path.string()};
}

}  // namespace

Status remove_file(const std::filesystem::path& path) {
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
    const std::string name = path.string() + suffix;
    if (::unlink(name.c_str()) != 0 && errno != ENOENT) return io_error(errno, name);
  }
  return event::Done{};
}

Status claim_file(const std::filesystem::path& path, bool replace) {
  if (replace) {
    if (const auto replaceable = check_replaceable(path); !replaceable) return replaceable;
    if (const auto removed = remove_file(path); !removed) return removed;
  }
  const int fd = ::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
  if (fd < 0) return io_error(errno, path);
  ::close(fd);
  return event::Done{};
}

}  // namespace detrec::storage
