// An SQLite file layer that fails when it is told to: the disk is full, or breaks.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace detrec::storage::testing {

enum class FileFailure { kNone, kFull, kWriteError, kSyncError };

/// Registers itself as an SQLite VFS; one at a time. Set what shall happen, then use name() as
/// WriterOptions::vfs.
class FailingFiles {
 public:
  FailingFiles();
  ~FailingFiles();
  FailingFiles(const FailingFiles&) = delete;
  FailingFiles& operator=(const FailingFiles&) = delete;

  std::string name() const { return "failing-files"; }
  /// Lets `operations` more writes and syncs succeed, then fails every one.
  void fail_after(std::int64_t operations, FileFailure failure);
  /// Writes and syncs so far.
  std::int64_t operations() const;
};

}  // namespace detrec::storage::testing
