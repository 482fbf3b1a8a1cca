#include "storage/sqlite.h"

namespace detrec::storage::sqlite {

void Statement::bind_one(std::string_view text) {
  note(sqlite3_bind_text64(get(), ++bound_, text.data() == nullptr ? "" : text.data(), text.size(),
                           SQLITE_STATIC, SQLITE_UTF8));
}

void Statement::bind_one(std::span<const std::byte> blob) {
  static const std::byte kNothing{};
  note(sqlite3_bind_blob64(get(), ++bound_, blob.empty() ? &kNothing : blob.data(), blob.size(),
                           SQLITE_STATIC));
}

Result<bool> Statement::step() {
  sqlite3* handle = sqlite3_db_handle(get());
  if (bind_error_ != SQLITE_OK) return error_of(bind_error_, sqlite3_errmsg(handle), "binding values");
  const int code = sqlite3_step(get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  const Error error = error_of(sqlite3_extended_errcode(handle), sqlite3_errmsg(handle), "");
  sqlite3_reset(get());
  return error;
}

Status Statement::run() {
  const auto row = step();
  reset();
  if (!row) return row.error();
  return Done{};
}

void Statement::reset() {
  sqlite3_reset(get());
  bound_ = 0;
  bind_error_ = SQLITE_OK;
}

std::string_view Statement::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(get(), column));
  if (text == nullptr) return {};
  return {text, static_cast<std::size_t>(sqlite3_column_bytes(get(), column))};
}

std::span<const std::byte> Statement::blob(int column) const {
  const auto* data = static_cast<const std::byte*>(sqlite3_column_blob(get(), column));
  if (data == nullptr) return {};
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(get(), column))};
}

Result<Database> Database::open(const std::string& name, int flags, const std::string& vfs) {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(name.c_str(), &handle, flags | SQLITE_OPEN_NOMUTEX,
                                   vfs.empty() ? nullptr : vfs.c_str());
  Database database;
  database.handle_.reset(handle);
  if (code != SQLITE_OK) {
    return error_of(handle == nullptr ? code : sqlite3_extended_errcode(handle),
                    handle == nullptr ? "out of memory" : sqlite3_errmsg(handle), "");
  }
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, 5000);
  // A trace may come from anybody: its schema must not be able to run more than queries.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  return database;
}

Status Database::execute(const char* sql) {
  if (sqlite3_exec(handle(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) return error("");
  return Done{};
}

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* raw = nullptr;
  const int code = sqlite3_prepare_v3(handle(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
  Statement statement;
  statement.statement_.reset(raw);
  if (code != SQLITE_OK) return error("");
  return statement;
}

Result<std::optional<std::int64_t>> Database::number(std::string_view sql) {
  auto statement = prepare(sql);
  if (!statement) return statement.error();
  const auto row = statement.value().step();
  if (!row) return row.error();
  if (!row.value()) return std::optional<std::int64_t>{};
  return std::optional<std::int64_t>{statement.value().number(0)};
}

Error Database::error(std::string_view doing) const {
  return error_of(sqlite3_extended_errcode(handle()), sqlite3_errmsg(handle()), doing);
}

Error error_of(int code, std::string_view message, std::string_view doing) {
  Error error;
  error.context = std::string(doing);
  switch (code & 0xff) {
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      error.code = ErrorCode::kInvalid;
      error.message = "the file is damaged (" + std::string(message) + ")";
      break;
    case SQLITE_FULL:
      error.code = ErrorCode::kIo;
      error.message = "the disk is full";
      break;
    default:
      error.code = ErrorCode::kIo;
      error.message = std::string(message);
      break;
  }
  return error;
}

Status fold_journal(Database& database) {
  for (const char* sql : {"PRAGMA wal_checkpoint(TRUNCATE)", "PRAGMA journal_mode = DELETE"}) {
    const auto done = database.execute(sql);
    if (done) continue;
    const int code = sqlite3_errcode(database.handle());
    if (code == SQLITE_BUSY || code == SQLITE_LOCKED) return Done{};
    return done;
  }
  return Done{};
}

Result<Transaction> Transaction::begin(Database& database) {
  const auto begun = database.execute("BEGIN IMMEDIATE");
  if (!begun) return begun.error();
  return Transaction(database);
}

Transaction::~Transaction() {
  // A failed rollback leaves nothing to do: SQLite has rolled back itself, or will when the file is opened.
  if (database_ != nullptr) static_cast<void>(database_->execute("ROLLBACK").ok());
}

Status Transaction::commit() {
  const auto committed = database_->execute("COMMIT");
  if (!committed) return committed.error();
  database_ = nullptr;
  return Done{};
}

}  // namespace detrec::storage::sqlite
