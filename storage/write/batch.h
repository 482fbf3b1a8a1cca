// What the recorder's thread hands to the writer's thread at a time: one transaction. Internal to storage.
#pragma once

#include <cstdint>
#include <memory>
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

/// Content of a captured file; `file` is the row it will belong to.
struct FilePiece {
  std::int64_t file;
  std::int64_t seq;
  std::vector<std::byte> data;
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
  std::size_t other_bytes = 0;  ///< memory taken besides the encoder's

  bool empty() const { return (!encoder || encoder->empty()) && other_bytes == 0; }
  std::size_t bytes() const { return other_bytes + (encoder ? encoder->raw_size() : 0); }
};

}  // namespace detrec::storage
