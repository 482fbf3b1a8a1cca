// Reads and hashes files to capture, and knows which content the trace has already. Belongs to the recorder's
// thread. Internal to storage.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <tuple>

#include "storage/write/batch.h"

namespace detrec::storage {

/// Content is stored in pieces of so many bytes.
inline constexpr std::size_t kFilePieceBytes = 4u << 20;

class CaptureStore {
 public:
  /// Takes pieces as they are read; an error stops the capture.
  struct Sink {
    std::function<Status(FilePiece)> piece;
    std::function<Status(FileEnd)> end;
  };

  /// Reads the content and returns the row of `file` that has it; `info.size` is filled in.
  Result<std::int64_t> add(int fd, CaptureInfo& info, const Sink& sink);
  Result<std::int64_t> add(std::span<const std::byte> content, CaptureInfo& info, const Sink& sink);

  /// False when the number is taken, or 0.
  bool take_number(CaptureNumber number);

 private:
  using Identity = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::int64_t, std::int64_t>;

  /// The file with this hash, or a new one.
  Result<std::int64_t> finish(std::int64_t file, const ContentHash& hash, std::uint64_t size,
                              bool pieces_sent, const Sink& sink);

  std::map<ContentHash, std::int64_t> by_hash_;
  std::map<Identity, std::int64_t> by_identity_;
  std::set<CaptureNumber> numbers_;
  std::int64_t files_ = 0;
};

}  // namespace detrec::storage
