#include "storage/write/batch_writer.h"

#include <zstd.h>

#include "storage/call_index.h"
#include "storage/schema.h"

namespace detrec::storage {
BatchWriter::BatchWriter(sqlite::Database database, const WriterOptions& options)
    : database_(std::move(database)), options_(options), compressor_(ZSTD_createCCtx()) {}

void BatchWriter::FreeCompressor::operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }

Result<std::unique_ptr<BatchWriter>> BatchWriter::create(const std::filesystem::path& path,
                                                         const RecordingInfo& info,
                                                         const WriterOptions& options) {
  auto in_file = [&](Error error) {
    error.context = path.string();
    return error;
  };
  auto database = sqlite::Database::open(path.string(), SQLITE_OPEN_READWRITE, options.vfs);
  if (!database) return in_file(database.error());
  std::unique_ptr<BatchWriter> writer(new BatchWriter(std::move(database.value()), options));
  // Nothing waits for the disk: what the kernel has been given survives the end of this process, and a crash
  // of the machine is no reason to make every recording wait.
  const auto ready = writer->database_.execute(
      "PRAGMA synchronous = OFF; PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 4096;"
      "PRAGMA cache_size = -8192");
  if (!ready) return in_file(ready.error());
  if (const auto done = writer->write_info(info); !done) return in_file(done.error());
  return writer;
}

Status BatchWriter::prepare() {
  const std::pair<sqlite::Statement*, const char*> statements[] = {
      {&insert_chunk_, "INSERT INTO chunk VALUES(0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"},
      {&insert_piece_, "INSERT INTO file_piece VALUES(?, ?, ?, ?)"},
      {&delete_pieces_, "DELETE FROM file_piece WHERE file = ?"},
      {&insert_file_, "INSERT INTO file VALUES(?, ?, ?)"},
      {&insert_capture_, "INSERT INTO capture VALUES(?, ?, ?, ?, ?, ?)"},
      {&set_, "INSERT OR REPLACE INTO recording VALUES(?, ?)"},
      {&set_usage_, "INSERT OR REPLACE INTO event_kind VALUES(?, ?, ?, ?, ?)"},
  };
  for (const auto& [statement, sql] : statements) {
    auto prepared = database_.prepare(sql);
    if (!prepared) return prepared.error();
    *statement = std::move(prepared.value());
  }
  auto tables = TableFiller::create(database_);
  if (!tables) return tables.error();
  tables_.emplace(std::move(tables.value()));
  return Done{};
}

Status BatchWriter::write_info(const RecordingInfo& info) {
  auto transaction = sqlite::Transaction::begin(database_);
  if (!transaction) return transaction.error();
  if (const auto done = create_schema(database_); !done) return done;
  if (const auto done = prepare(); !done) return done;
  std::vector<std::pair<std::string, std::string>> values = {
      {"tick_semantics", std::to_string(kTickSemantics)},
      {"event_set", std::to_string(kEventSet)},
      {"frame_layout", std::to_string(kFrameLayout)},
      {"command", to_json_array(info.command)},
      {"directory", info.directory},
      {"host", info.host},
      {"kernel", info.kernel},
      {"cpu_model", info.cpu_model},
      {"detrec_version", info.detrec_version},
      {"policy", info.policy},
      {"seed", std::to_string(info.seed)},
      {"started_ns", std::to_string(info.started.ns)},
      {"complete", "0"},
      {"syscall_rows", "none"},
      {"output_rows", "complete"},
  };
  values.insert(values.end(), info.more.begin(), info.more.end());
  if (const auto done = write_settings(values); !done) return done;
  return transaction.value().commit();
}

Status BatchWriter::write(Batch& batch) {
  auto transaction = sqlite::Transaction::begin(database_);
  if (!transaction) return transaction.error();
  if (batch.encoder && !batch.encoder->empty()) {
    if (const auto done = write_chunk(*batch.encoder); !done) return done;
  }
  if (const auto done = write_tables(batch); !done) return done;
  if (const auto done = write_files(batch); !done) return done;
  if (const auto done = write_settings(batch.settings); !done) return done;
  return transaction.value().commit();
}

Status BatchWriter::write_chunk(event::ChunkEncoder& encoder) {
  const auto finished = encoder.finish();
  if (!finished) return finished.error();
  const event::EncodedChunk& chunk = finished.value();
  for (std::size_t kind = 0; kind < usages_.size(); ++kind) {
    usages_[kind].records += chunk.usages[kind].records;
    usages_[kind].coded_bytes += chunk.usages[kind].coded_bytes;
    usages_[kind].payload_bytes += chunk.usages[kind].payload_bytes;
  }
  last_event_ = chunk.last_event;
  last_time_ = chunk.last_time;
  const auto done = insert_chunk_
                        .bind(++chunks_, chunk.first_event.value, chunk.last_event.value, chunk.first_time.ns,
                              chunk.last_time.ns, event::kChunkCodec, chunk.records, chunk.raw_size,
                              chunk.coded_size, chunk.crc, std::span<const std::byte>(chunk.data))
                        .run();
  if (!done) return done;
  return write_usages();
}

Status BatchWriter::write_usages() {
  for (std::size_t kind = 1; kind < usages_.size(); ++kind) {
    const auto& usage = usages_[kind];
    if (usage.records == 0) continue;
    const auto name = event::kind_name(static_cast<wire::EventKind>(kind));
    const auto done =
        set_usage_.bind(std::uint64_t{kind}, name, usage.records, usage.coded_bytes, usage.payload_bytes)
            .run();
    if (!done) return done;
  }
  return Done{};
}

Status BatchWriter::write_tables(const Batch& batch) {
  for (const TableRecord& record : batch.table_records) {
    const auto view = event::parse_record(std::span(batch.table_bytes).subspan(record.offset));
    if (!view) return view.error();
    const auto done = tables_->add(view.value(), record.number, record.time);
    if (!done) return done;
  }
  return tables_->write_counts();
}

Status BatchWriter::write_piece(const FilePiece& piece) {
  if (piece.hole != 0)
    return insert_piece_.bind(piece.file, piece.seq, piece.hole, std::span<const std::byte>{}).run();
  const std::size_t bound = ZSTD_compressBound(piece.data.size());
  if (packed_.size() < bound) packed_ = Bytes(bound);
  const std::size_t size =
      ZSTD_compressCCtx(compressor_.get(), packed_.data(), packed_.size(), piece.data.span().data(),
                        piece.data.size(), options_.capture_compression_level);
  if (ZSTD_isError(size) != 0) return Error{ErrorCode::kIo, "no memory for compression", "captured file"};
  return insert_piece_
      .bind(piece.file, piece.seq, std::uint64_t{piece.data.size()},
            std::as_const(packed_).span().first(size))
      .run();
}

Status BatchWriter::write_files(const Batch& batch) {
  for (const FilePiece& piece : batch.pieces) {
    if (const auto done = write_piece(piece); !done) return done;
  }
  for (const FileEnd& file : batch.files) {
    const auto done =
        file.duplicate ? delete_pieces_.bind(file.file).run()
                       : insert_file_.bind(file.file, std::span<const std::byte>(file.hash), file.size).run();
    if (!done) return done;
  }
  for (const CaptureRow& capture : batch.captures) {
    const auto done = insert_capture_
                          .bind(capture.number.value, capture.file, std::string_view(capture.info.path),
                                capture.info.device, capture.info.inode, capture.info.mtime_ns)
                          .run();
    if (!done) return done;
  }
  return Done{};
}

Status BatchWriter::write_settings(const std::vector<std::pair<std::string, std::string>>& settings) {
  for (const auto& [key, value] : settings) {
    const auto done = set_.bind(std::string_view(key), std::string_view(value)).run();
    if (!done) return done;
  }
  return Done{};
}

Status BatchWriter::finish_tables(const RecordingSummary& summary) {
  auto transaction = sqlite::Transaction::begin(database_);
  if (!transaction) return transaction.error();
  if (const auto done = tables_->finish(last_event_, last_time_); !done) return done;
  const auto done = write_settings({
      {"ended_ns", std::to_string(summary.ended.ns)},
      {"exit_status", std::to_string(summary.exit_status)},
      {"end_reason", summary.end_reason},
      {"ticks", std::to_string(summary.ticks.value_or(tables_->ticks()))},
      {"events", std::to_string(last_event_.value)},
      {"output_rows", tables_->output_complete() ? "complete" : "partial"},
      {"complete", "1"},
  });
  if (!done) return done;
  return transaction.value().commit();
}

Status BatchWriter::finish(const RecordingSummary& summary) {
  if (const auto done = finish_tables(summary); !done) return done;
  const auto& calls = usages_[static_cast<std::size_t>(wire::EventKind::kSyscall)];
  // A failure leaves the recording complete and the table as empty as it was: `detrec index` can try again.
  if (calls.records <= options_.indexed_syscalls) static_cast<void>(fill_call_index(database_).ok());
  return fold_journal(database_);
}

}  // namespace detrec::storage
