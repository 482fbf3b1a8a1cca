// What the recorder's thread hands to the writer's thread at a time: one transaction. Internal to storage.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "storage/capture.h"
#include "storage/content_hash.h"
#include "storage/trace_info.h"
#include "trace/event/chunk_codec.h"

namespace detrec::storage {

/// A record that leads to rows besides its place in the chunk.
struct TableRecord {
  EventNumber number;
  WallTime time;
  std::size_t offset;  ///< in Batch::table_bytes
};

/// Bytes that are not zeroed before they are filled: zeroing a buffer for a file costs as much as reading the
/// file.
class Bytes {
 public:
  Bytes() = default;
  explicit Bytes(std::size_t size) : data_(new std::byte[size]), size_(size) {}
  explicit Bytes(std::span<const std::byte> content) : Bytes(content.size()) {
    std::copy(content.begin(), content.end(), data_.get());
  }
  Bytes(Bytes&& other) noexcept : data_(std::move(other.data_)), size_(std::exchange(other.size_, 0)) {}
  Bytes& operator=(Bytes&& other) noexcept {
    data_ = std::move(other.data_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  std::byte* data() { return data_.get(); }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  /// Forgets what is behind the first `size` bytes; the memory stays.
  void shorten(std::size_t size) { size_ = size; }
  std::span<std::byte> span() { return {data_.get(), size_}; }
  std::span<const std::byte> span() const { return {data_.get(), size_}; }

 private:
  std::unique_ptr<std::byte[]> data_;
  std::size_t size_ = 0;
};

/// Content of a captured file; `file` is the row it will belong to.
struct FilePiece {
  std::int64_t file;
  std::int64_t seq;
  Bytes data;
  std::uint64_t hole = 0;  ///< instead of data: so many zeros
};

/// All pieces of a file have been handed over.
struct FileEnd {
  std::int64_t file;
  ContentHash hash;
  std::uint64_t size;
  bool duplicate;  ///< the content was there already: forget the pieces
};

struct CaptureRow {
  CaptureNumber number;
  CaptureInfo info;
  std::int64_t file;
};

struct Batch {
  std::unique_ptr<event::ChunkEncoder> encoder;
  std::vector<std::byte> table_bytes;
  std::vector<TableRecord> table_records;
  std::vector<FilePiece> pieces;
  std::vector<FileEnd> files;
  std::vector<CaptureRow> captures;
  std::vector<std::pair<std::string, std::string>> settings;
  std::size_t piece_bytes = 0;  ///< of `pieces`
  std::size_t other_bytes = 0;  ///< memory taken besides the encoder's

  bool empty() const { return (!encoder || encoder->empty()) && other_bytes == 0; }
  std::size_t bytes() const { return other_bytes + (encoder ? encoder->raw_size() : 0); }
};

}  // namespace detrec::storage
