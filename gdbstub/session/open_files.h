// The files a client has open through vFile: recorded ones of the Target, and /proc files made here.
#pragma once

#include <map>
#include <string>
#include <variant>

#include "gdbstub/file_access.h"
#include "gdbstub/target.h"

namespace detrec::gdbstub {

class OpenFiles {
 public:
  explicit OpenFiles(Target& target) : target_(target) {}
  ~OpenFiles() { close_all(); }
  OpenFiles(const OpenFiles&) = delete;
  OpenFiles& operator=(const OpenFiles&) = delete;

  /// The most files one client may have open; then EMFILE.
  static constexpr std::size_t kMaxFiles = 1024;

  /// A number for the client: the lowest free one, 0 and up.
  Result<std::int32_t> open(ProcessId process, const std::string& path);
  Result<std::vector<std::uint8_t>> pread(std::int32_t fd, std::uint64_t offset, std::size_t count);
  Result<FileStat> fstat(std::int32_t fd);
  Status close(std::int32_t fd);
  void close_all();

  Result<std::string> readlink(ProcessId process, const std::string& path);

 private:
  using File = std::variant<FileHandle, std::string>;

  Result<File> open_file(ProcessId process, const std::string& path);

  Target& target_;
  std::map<std::int32_t, File> files_;
};

}  // namespace detrec::gdbstub
