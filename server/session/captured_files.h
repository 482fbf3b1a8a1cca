// The files that a trace holds, for a debugger that looks for programs and libraries.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gdbstub/file_access.h"
#include "storage/trace_reader.h"

namespace detrec::server {

class CapturedFiles : public gdbstub::FileAccess {
 public:
  explicit CapturedFiles(storage::TraceReader& reader);

  gdbstub::Result<gdbstub::FileHandle> open(gdbstub::ProcessId process, const std::string& path) override;
  gdbstub::Result<std::vector<std::uint8_t>> pread(gdbstub::FileHandle file, std::uint64_t offset,
                                                   std::size_t count) override;
  gdbstub::Result<gdbstub::FileStat> fstat(gdbstub::FileHandle file) override;
  gdbstub::Status close(gdbstub::FileHandle file) override;
  gdbstub::Result<std::string> readlink(gdbstub::ProcessId process, const std::string& path) override;

 private:
  struct Open {
    storage::Capture capture;
    std::shared_ptr<const std::vector<std::byte>> content;
  };
  const storage::Capture* find(const std::string& path) const;

  storage::TraceReader& reader_;
  std::map<std::string, storage::Capture> by_path_;  ///< the last version of each
  std::map<std::int64_t, std::weak_ptr<const std::vector<std::byte>>> loaded_;
  std::map<std::int32_t, Open> open_;
  std::int32_t next_ = 1;
};

}  // namespace detrec::server
