// The files of this machine, as a recording of it would hold them.
#pragma once

#include <set>

#include "gdbstub/file_access.h"

namespace detrec::gdbstub::toy {

class LocalFiles : public FileAccess {
 public:
  ~LocalFiles() override;
  Result<FileHandle> open(ProcessId process, const std::string& path) override;
  Result<std::vector<std::uint8_t>> pread(FileHandle file, std::uint64_t offset, std::size_t count) override;
  Result<FileStat> fstat(FileHandle file) override;
  Status close(FileHandle file) override;
  Result<std::string> readlink(ProcessId process, const std::string& path) override;

 private:
  std::set<FileHandle> open_;
};

}  // namespace detrec::gdbstub::toy
