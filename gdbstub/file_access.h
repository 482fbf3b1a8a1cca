// Files of the recorded run, for a debugger that has none of them itself. Read-only: a recording is not
// altered.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gdbstub/ids.h"
#include "gdbstub/result.h"

namespace detrec::gdbstub {

/// struct stat, as far as the protocol carries it.
struct FileStat {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint32_t mode = 0;  ///< type and permissions, as st_mode
  std::uint32_t links = 1;
  std::uint32_t uid = 0, gid = 0;
  std::uint64_t size = 0;  ///< bytes
  std::int64_t mtime = 0;  ///< seconds since 1970
};

/// The stub serves /proc/PID/... of recorded processes itself, from ProcessInfo; everything else comes here.
/// Errors carry a Linux errno. Allowed at any time at which the Target stands still.
class FileAccess {
 public:
  virtual ~FileAccess() = default;

  /// Opens `path` for reading, as `process` saw it. ENOENT if the recording has no such file.
  virtual Result<FileHandle> open(ProcessId process, const std::string& path) = 0;
  /// Up to `count` bytes from `offset`; fewer at the end of the file, none behind it. EBADF, EIO.
  virtual Result<std::vector<std::uint8_t>> pread(FileHandle file, std::uint64_t offset,
                                                  std::size_t count) = 0;
  virtual Result<FileStat> fstat(FileHandle file) = 0;
  virtual Status close(FileHandle file) = 0;
  /// The text of a symbolic link. EINVAL if `path` is none.
  virtual Result<std::string> readlink(ProcessId process, const std::string& path) = 0;
};

}  // namespace detrec::gdbstub
