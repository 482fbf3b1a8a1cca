// Generated files: a memfd that the guest reads, and reading the kernel's own /proc files line by line.
#pragma once

#include "trace/guest/base/types.h"

namespace detrec::guest::procfs {

/// Collects text in a memfd, or in a pipe where RLIMIT_FSIZE allows no file of that size. finish() turns it
/// into a read-only descriptor, the lowest that is free.
class TextFile {
 public:
  /// `name` (at most 15 characters) shows up in readlink of the descriptor, which procfs::readlink translates
  /// back.
  explicit TextFile(const char* name);
  ~TextFile();
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;

  void write(const void* bytes, u64 n);
  /// The descriptor or -errno; `flags`: O_CLOEXEC, O_NONBLOCK are honoured.
  SysResult finish(u64 flags);

 private:
  void open_pipe();
  void flush();
  void seal();
  void close(i32& fd);

  i32 fd_ = -1;         ///< the memfd, or the pipe's end to read from
  i32 pipe_end_ = -1;   ///< the pipe's end to write to
  u64 file_limit_ = 0;  ///< RLIMIT_FSIZE to put back; 0: not changed
  u64 hard_limit_ = 0;
  SysResult error_ = 0;
  u8* buffer_;
  u64 used_ = 0;
};

/// What the memfds' names begin with.
inline constexpr char kMemfdPrefix[] = "detrec:";

/// Reads a file line by line.
class LineReader {
 public:
  explicit LineReader(const char* path, i32 dirfd = -100 /* AT_FDCWD */);
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  /// 0 or the -errno of opening.
  SysResult error() const { return error_; }
  /// The next line without its newline, valid until the next call; nullptr at the end.
  const char* next(u64& bytes);

 private:
  i32 fd_ = -1;
  SysResult error_ = 0;
  char* buffer_;
  u64 at_ = 0, end_ = 0;
};

}  // namespace detrec::guest::procfs
