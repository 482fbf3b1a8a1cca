#include "storage/write/capture_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <optional>
#include <string>

namespace detrec::storage {
namespace {

constexpr std::int64_t kNanosPerSecond = 1'000'000'000;
/// A file's times say that it has not changed only if they are older than this when it is read: the time
/// stamp is coarse, and a write through a mapping is stamped when its page was clean before.
constexpr std::int64_t kSettledNs = 60 * kNanosPerSecond;

std::int64_t nanos(const timespec& time) { return time.tv_sec * kNanosPerSecond + time.tv_nsec; }

Error read_error(const CaptureInfo& info) { return Error{ErrorCode::kIo, std::strerror(errno), info.path}; }

/// Fills `buffer` from `offset`; fewer bytes at the end of the file.
Result<std::size_t> read_at(int fd, std::span<std::byte> buffer, std::uint64_t offset,
                            const CaptureInfo& info) {
  std::size_t done = 0;
  while (done < buffer.size()) {
    const ssize_t size =
        ::pread(fd, buffer.data() + done, buffer.size() - done, static_cast<off_t>(offset + done));
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return read_error(info);
    if (size == 0) break;
    done += static_cast<std::size_t>(size);
  }
  return done;
}

/// A hole is worth looking for from this size on.
constexpr std::uint64_t kLeastHole = kFilePieceBytes;

/// A descriptor of the file for reading. One of its own where the program's will not do: O_DIRECT allows only
/// whole blocks at whole blocks, its flag is the program's to change, and so is the place where lseek leaves
/// it.
class Source {
 public:
  Source(int fd, const struct stat& status) : fd_(fd) {
    const int flags = ::fcntl(fd, F_GETFL);
    const bool direct = flags >= 0 && (flags & O_DIRECT) != 0;
    const auto stored = static_cast<std::uint64_t>(status.st_blocks) * 512;
    const bool sparse = stored + kLeastHole <= static_cast<std::uint64_t>(status.st_size);
    if (!direct && !sparse) return;
    const std::string link = "/proc/self/fd/" + std::to_string(fd);
    opened_ = ::open(link.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (opened_ >= 0) fd_ = opened_;
    sparse_ = sparse && opened_ >= 0;
  }
  ~Source() {
    if (opened_ >= 0) ::close(opened_);
  }
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  int fd() const { return fd_; }
  /// The size of the hole at `offset`; 0 when there is none that is worth it.
  std::uint64_t hole_at(std::uint64_t offset) const;

 private:
  int fd_, opened_ = -1;
  bool sparse_ = false;
};

std::uint64_t Source::hole_at(std::uint64_t offset) const {
  if (!sparse_) return 0;
  off_t end = ::lseek(fd_, static_cast<off_t>(offset), SEEK_DATA);
  if (end < 0 && errno == ENXIO) end = ::lseek(fd_, 0, SEEK_END);  // no data any more
  const std::uint64_t size = end < 0 ? 0 : static_cast<std::uint64_t>(end);
  return size >= offset + kLeastHole ? size - offset : 0;
}

/// Room for what is left of a file that has so many bytes as far as known, and one more: it may have grown.
Bytes room_for(std::uint64_t left) {
  constexpr std::uint64_t kLeast = 64 * 1024;
  return Bytes(static_cast<std::size_t>(std::clamp(left + 1, kLeast, std::uint64_t{kFilePieceBytes})));
}

bool is_elf(std::span<const std::byte> start) {
  return start.size() >= 4 && std::memcmp(start.data(),
                                          "\x7f"
                                          "ELF",
                                          4) == 0;
}

}  // namespace

bool CaptureStore::take_number(CaptureNumber number) {
  return number.value != 0 && numbers_.insert(number).second;
}

Result<std::int64_t> CaptureStore::finish(std::int64_t file, const ContentHash& hash, std::uint64_t size,
                                          bool pieces_sent, const Sink& sink) {
  const auto [found, fresh] = by_hash_.try_emplace(hash, file);
  if (fresh || pieces_sent) {
    const auto done = sink.end({file, hash, size, !fresh});
    if (!done) return done.error();
  }
  return found->second;
}

Result<std::int64_t> CaptureStore::add(std::span<const std::byte> content, CaptureInfo& info,
                                       const Sink& sink) {
  info.size = content.size();
  ContentHasher hasher;
  hasher.add(content);
  const ContentHash hash = hasher.finish();
  if (const auto known = by_hash_.find(hash); known != by_hash_.end()) return known->second;
  const std::int64_t file = ++files_;
  std::int64_t seq = 0;
  for (std::size_t at = 0; at < content.size(); at += kFilePieceBytes) {
    const auto part = content.subspan(at, std::min(kFilePieceBytes, content.size() - at));
    const auto sent = sink.piece({file, seq++, Bytes(part), 0});
    if (!sent) return sent.error();
  }
  return finish(file, hash, info.size, true, sink);
}

Result<std::int64_t> CaptureStore::add(int fd, CaptureInfo& info, const Sink& sink) {
  struct stat status;
  if (::fstat(fd, &status) != 0) return read_error(info);
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  const bool settled = nanos(now) - std::max(nanos(status.st_mtim), nanos(status.st_ctim)) > kSettledNs;
  const Identity identity{status.st_dev, status.st_ino, status.st_size, nanos(status.st_mtim),
                          nanos(status.st_ctim)};
  if (settled) {
    if (const auto known = by_identity_.find(identity); known != by_identity_.end()) {
      info.size = static_cast<std::uint64_t>(status.st_size);
      return known->second;
    }
  }

  // A file of one piece, which most are, is compared before anything is sent; of a larger one the pieces are
  // sent as they are read, and taken back if they turn out to be known.
  const Source source(fd, status);
  ContentHasher hasher;
  std::optional<std::int64_t> file;
  Bytes held;
  bool elf = false;
  const auto size_before = static_cast<std::uint64_t>(status.st_size);
  info.size = 0;
  for (std::int64_t seq = 0;; ++seq) {
    if (const std::uint64_t hole = source.hole_at(info.size); hole != 0) {
      hasher.add_hole(info.size, hole);
      info.size += hole;
      if (!file) file = ++files_;
      const auto sent = sink.piece({*file, seq, {}, hole});
      if (!sent) return sent.error();
      continue;
    }
    Bytes piece = room_for(size_before - std::min(size_before, info.size));
    const auto size = read_at(source.fd(), piece.span(), info.size, info);
    if (!size) return size.error();
    const bool last = size.value() < piece.size();
    piece.shorten(size.value());
    hasher.add(piece.span());
    if (seq == 0) elf = is_elf(piece.span());
    info.size += piece.size();
    if (seq == 0 && last) {
      held = std::move(piece);
      break;
    }
    if (!file) file = ++files_;
    if (!piece.empty()) {
      const auto sent = sink.piece({*file, seq, std::move(piece), 0});
      if (!sent) return sent.error();
    }
    if (last) break;
  }

  const ContentHash hash = hasher.finish();
  const bool sent_before = file.has_value();
  if (!sent_before && !by_hash_.contains(hash)) {
    file = ++files_;
    if (!held.empty()) {
      const auto sent = sink.piece({*file, 0, std::move(held), 0});
      if (!sent) return sent.error();
    }
  }
  const auto stored = finish(file.value_or(0), hash, info.size, sent_before, sink);
  // Programs and libraries are mapped again and again, by every exec, and nobody writes to them through a
  // mapping.
  if (stored && settled && elf) by_identity_.emplace(identity, stored.value());
  return stored;
}

}  // namespace detrec::storage
