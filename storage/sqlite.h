// SQLite with owned handles and errors as results. Internal to storage.
#pragma once

#include <sqlite3.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "storage/trace_info.h"

namespace detrec::storage::sqlite {

class Database;

/// A prepared statement. Binding and stepping report errors through the step or run that follows.
class Statement {
 public:
  Statement() = default;

  /// Binds the next parameters in order. Blobs and texts must live until the step.
  template <typename... Values>
  Statement& bind(const Values&... values) {
    (bind_one(values), ...);
    return *this;
  }

  /// Steps to the next row; false when there is none.
  Result<bool> step();
  /// Runs to the end and resets, for statements without rows.
  Status run();
  /// Makes ready for new bindings.
  void reset();

  std::int64_t number(int column) const { return sqlite3_column_int64(get(), column); }
  bool is_null(int column) const { return sqlite3_column_type(get(), column) == SQLITE_NULL; }
  /// Live until the next step or reset. A column of another type gives its conversion; a failed one is empty.
  std::string_view text(int column) const;
  std::span<const std::byte> blob(int column) const;
  /// The size of a blob, without loading it.
  std::int64_t size(int column) const { return sqlite3_column_bytes(get(), column); }

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };

  sqlite3_stmt* get() const { return statement_.get(); }
  void bind_one(std::int64_t value) { note(sqlite3_bind_int64(get(), ++bound_, value)); }
  void bind_one(std::uint64_t value) { bind_one(static_cast<std::int64_t>(value)); }
  void bind_one(std::int32_t value) { bind_one(std::int64_t{value}); }
  void bind_one(std::uint32_t value) { bind_one(std::int64_t{value}); }
  void bind_one(std::nullptr_t) { note(sqlite3_bind_null(get(), ++bound_)); }
  void bind_one(std::string_view text);
  void bind_one(std::span<const std::byte> blob);
  template <typename T>
  void bind_one(const std::optional<T>& value) {
    if (value) {
      bind_one(*value);
    } else {
      bind_one(nullptr);
    }
  }
  void note(int code) {
    if (code != SQLITE_OK && bind_error_ == SQLITE_OK) bind_error_ = code;
  }

  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int bound_ = 0;
  int bind_error_ = SQLITE_OK;
};

/// A connection, used by one thread at a time.
class Database {
 public:
  /// `flags` and `vfs` (empty: the default) as for man sqlite3_open_v2; `name` is a path or a file: URI.
  static Result<Database> open(const std::string& name, int flags, const std::string& vfs = {});

  /// Runs statements without parameters or rows of interest.
  Status execute(const char* sql);
  Result<Statement> prepare(std::string_view sql);
  /// The first column of the first row of a query; nothing when there is no row.
  Result<std::optional<std::int64_t>> number(std::string_view sql);

  sqlite3* handle() const { return handle_.get(); }
  /// The last error of this connection.
  Error error(std::string_view doing) const;

 private:
  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
  };
  std::unique_ptr<sqlite3, Close> handle_;
};

/// What an SQLite result code means for the user of a trace.
Error error_of(int code, std::string_view message, std::string_view doing);

/// From write-ahead log to one plain file. While somebody else has the file open, the journal stays as it is,
/// and the trace is as good; that is no error.
Status fold_journal(Database& database);

/// BEGIN IMMEDIATE; rolled back unless committed.
class Transaction {
 public:
  static Result<Transaction> begin(Database& database);
  ~Transaction();
  Transaction(Transaction&& other) noexcept : database_(other.database_) { other.database_ = nullptr; }
  Transaction& operator=(Transaction&&) = delete;
  Status commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}
  Database* database_;
};

}  // namespace detrec::storage::sqlite
