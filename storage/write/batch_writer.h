// Writes batches into a trace, each in one transaction. Belongs to the thread that writes. Internal to
// storage.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "storage/sqlite.h"
#include "storage/table_filler.h"
#include "storage/trace_writer.h"
#include "storage/write/batch.h"

struct ZSTD_CCtx_s;

namespace detrec::storage {

class BatchWriter {
 public:
  /// Makes the tables of a claimed file, and its description.
  static Result<std::unique_ptr<BatchWriter>> create(const std::filesystem::path& path,
                                                     const RecordingInfo& info, const WriterOptions& options);

  /// Leaves batch.encoder empty, for use again.
  Status write(Batch& batch);

  /// After the last batch: ends the description, fills the table `syscall` if asked to, makes one file of it.
  Status finish(const RecordingSummary& summary);

 private:
  BatchWriter(sqlite::Database database, const WriterOptions& options);

  Status prepare();
  Status write_info(const RecordingInfo& info);
  Status write_chunk(event::ChunkEncoder& encoder);
  Status write_tables(const Batch& batch);
  Status write_files(const Batch& batch);
  Status write_piece(const FilePiece& piece);
  Status write_settings(const std::vector<std::pair<std::string, std::string>>& settings);
  Status write_usages();
  Status finish_tables(const RecordingSummary& summary);

  sqlite::Database database_;
  WriterOptions options_;
  sqlite::Statement insert_chunk_, insert_piece_, delete_pieces_, insert_file_, insert_capture_, set_,
      set_usage_;
  std::optional<TableFiller> tables_;
  struct FreeCompressor {
    void operator()(ZSTD_CCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_CCtx_s, FreeCompressor> compressor_;  ///< for files, as `packed_`
  Bytes packed_;
  event::KindUsages usages_{};
  std::int64_t chunks_ = 0;
  EventNumber last_event_;
  WallTime last_time_;
};

}  // namespace detrec::storage
