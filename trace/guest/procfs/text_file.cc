#include "trace/guest/procfs/text_file.h"

#include <asm/errno.h>
#include <asm/resource.h>
#include <linux/fcntl.h>
#include <linux/memfd.h>

#include "trace/guest/base/arena.h"
#include "trace/guest/base/print.h"
#include "trace/guest/base/string.h"
#include "trace/guest/base/syscall.h"

namespace detrec::guest::procfs {
namespace {

constexpr u64 kBufferBytes = 32 * 1024;  // a line of /proc/self/maps with every byte of its path escaped fits

/// What one of these files may come to; 65530 rows of maps are less.
constexpr u64 kLargestText = 64 << 20;
constexpr u64 kPipeBytes = 1 << 20;

struct Limit {
  u64 soft, hard;
};

void set_file_limit(const Limit& limit) { raw_syscall(__NR_prlimit64, 0, RLIMIT_FSIZE, arg(&limit), 0); }

}  // namespace

// The kernel ends a process whose memfd grows beyond RLIMIT_FSIZE.
TextFile::TextFile(const char* name) : buffer_(static_cast<u8*>(engine_reserve(kBufferBytes))) {
  Limit now;
  raw_syscall(__NR_prlimit64, 0, RLIMIT_FSIZE, 0, arg(&now));
  if (now.hard < kLargestText) {
    open_pipe();
    return;
  }
  if (now.soft < kLargestText) {
    file_limit_ = now.soft + 1;
    hard_limit_ = now.hard;
    set_file_limit({now.hard, now.hard});
  }
  char full[32];
  format(full, sizeof full, "%s%s", kMemfdPrefix, name);
  SysResult r = raw_syscall(__NR_memfd_create, arg(full), MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (failed(r)) {
    error_ = r;
  } else {
    fd_ = static_cast<i32>(r);
  }
}

TextFile::~TextFile() {
  engine_release(buffer_, kBufferBytes);
  close(fd_);
  close(pipe_end_);
  if (file_limit_ != 0) set_file_limit({file_limit_ - 1, hard_limit_});
}

void TextFile::open_pipe() {
  i32 ends[2];
  error_ = raw_syscall(__NR_pipe2, arg(ends), O_CLOEXEC | O_NONBLOCK);
  if (failed(error_)) return;
  fd_ = ends[0];
  pipe_end_ = ends[1];
  raw_syscall(__NR_fcntl, static_cast<u64>(pipe_end_), F_SETPIPE_SZ, kPipeBytes);
}

void TextFile::close(i32& fd) {
  if (fd >= 0) raw_syscall(__NR_close, static_cast<u64>(fd));
  fd = -1;
}

void TextFile::flush() {
  i32 to = pipe_end_ >= 0 ? pipe_end_ : fd_;
  u64 done = 0;
  while (error_ == 0 && done < used_) {
    SysResult r = raw_syscall(__NR_write, static_cast<u64>(to), arg(buffer_ + done), used_ - done);
    if (r == -EINTR) continue;
    if (failed(r)) {
      error_ = r == -EAGAIN ? -EFBIG : r;  // more than the pipe holds
    } else {
      done += static_cast<u64>(r);
    }
  }
  used_ = 0;
}

void TextFile::write(const void* bytes, u64 n) {
  const u8* from = static_cast<const u8*>(bytes);
  while (n > 0 && error_ == 0) {
    u64 part = n < kBufferBytes - used_ ? n : kBufferBytes - used_;
    memcpy(buffer_ + used_, from, part);
    used_ += part;
    from += part;
    n -= part;
    if (used_ == kBufferBytes) flush();
  }
}

void TextFile::seal() {
  raw_syscall(__NR_fchmod, static_cast<u64>(fd_), 0444);
  raw_syscall(__NR_fcntl, static_cast<u64>(fd_), F_ADD_SEALS,
              F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
}

SysResult TextFile::finish(u64 flags) {
  flush();
  if (error_ != 0) return error_;
  if (pipe_end_ >= 0) {
    raw_syscall(__NR_fcntl, static_cast<u64>(fd_), F_SETFL, flags & O_NONBLOCK);
    raw_syscall(__NR_fcntl, static_cast<u64>(fd_), F_SETFD, (flags & O_CLOEXEC) != 0 ? FD_CLOEXEC : 0);
    i32 result = fd_;
    fd_ = -1;
    return result;
  }
  seal();
  // A second open file description, read-only and at offset 0, takes the place of the first.
  char link[32];
  format(link, sizeof link, "/proc/thread-self/fd/%d", fd_);
  u64 kept = flags & (O_CLOEXEC | O_NONBLOCK);
  SysResult r = raw_syscall(__NR_openat, static_cast<u64>(AT_FDCWD), arg(link), O_RDONLY | kept);
  if (failed(r)) return r;
  i32 result = fd_;
  SysResult moved = raw_syscall(__NR_dup3, static_cast<u64>(r), static_cast<u64>(fd_), kept & O_CLOEXEC);
  raw_syscall(__NR_close, static_cast<u64>(r));
  if (failed(moved)) return moved;
  fd_ = -1;
  return result;
}

LineReader::LineReader(const char* path, i32 dirfd)
    : buffer_(static_cast<char*>(engine_reserve(kBufferBytes))) {
  SysResult r =
      raw_syscall(__NR_openat, static_cast<u64>(static_cast<i64>(dirfd)), arg(path), O_RDONLY | O_CLOEXEC);
  if (failed(r)) {
    error_ = r;
  } else {
    fd_ = static_cast<i32>(r);
  }
}

LineReader::~LineReader() {
  engine_release(buffer_, kBufferBytes);
  if (fd_ >= 0) raw_syscall(__NR_close, static_cast<u64>(fd_));
}

const char* LineReader::next(u64& bytes) {
  u64 looked = at_;
  for (;;) {
    for (; looked < end_; ++looked) {
      if (buffer_[looked] != '\n') continue;
      const char* line = buffer_ + at_;
      bytes = looked - at_;
      at_ = looked + 1;
      return line;
    }
    if (fd_ < 0) return nullptr;
    memmove(buffer_, buffer_ + at_, end_ - at_);
    looked -= at_;
    end_ -= at_;
    at_ = 0;
    if (end_ == kBufferBytes) return nullptr;  // no file that is read here has such a line
    SysResult r = raw_syscall(__NR_read, static_cast<u64>(fd_), arg(buffer_ + end_), kBufferBytes - end_);
    if (r == -EINTR) continue;
    if (failed(r) || r == 0) {  // what lacks a newline at the end is dropped
      raw_syscall(__NR_close, static_cast<u64>(fd_));
      fd_ = -1;
      return nullptr;
    }
    end_ += static_cast<u64>(r);
  }
}

}  // namespace detrec::guest::procfs
