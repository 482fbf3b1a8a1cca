#include "tests/gdb/toy/local_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>

namespace detrec::gdbstub::toy {

namespace {

Error failure(const std::string& context) { return {errno, std::strerror(errno), context}; }

}  // namespace

LocalFiles::~LocalFiles() {
  for (const auto file : open_) ::close(file.value);
}

Result<FileHandle> LocalFiles::open(ProcessId, const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return failure(path);
  open_.insert({fd});
  return FileHandle{fd};
}

Result<std::vector<std::uint8_t>> LocalFiles::pread(FileHandle file, std::uint64_t offset,
                                                    std::size_t count) {
  std::vector<std::uint8_t> bytes(count);
  const auto got = ::pread(file.value, bytes.data(), count, static_cast<off_t>(offset));
  if (got < 0) return failure({});
  bytes.resize(static_cast<std::size_t>(got));
  return bytes;
}

Result<FileStat> LocalFiles::fstat(FileHandle file) {
  struct stat stat {};
  if (::fstat(file.value, &stat) != 0) return failure({});
  FileStat out;
  out.device = stat.st_dev;
  out.inode = stat.st_ino;
  out.mode = stat.st_mode;
  out.uid = stat.st_uid;
  out.gid = stat.st_gid;
  out.size = static_cast<std::uint64_t>(stat.st_size);
  out.mtime = stat.st_mtime;
  return out;
}

Status LocalFiles::close(FileHandle file) {
  if (open_.erase(file) == 0) return Error{EBADF, "not open"};
  ::close(file.value);
  return Done{};
}

Result<std::string> LocalFiles::readlink(ProcessId, const std::string& path) {
  char text[PATH_MAX];
  const auto count = ::readlink(path.c_str(), text, sizeof text);
  if (count < 0) return failure(path);
  return std::string(text, static_cast<std::size_t>(count));
}

}  // namespace detrec::gdbstub::toy
