#include "storage/schema.h"

#include <string>

#include "trace/event/names.h"
#include "trace/syscalls/table.h"

namespace detrec::storage {
namespace {

// What replay reads.
constexpr const char* kRunTables = R"sql(
CREATE TABLE recording(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE chunk(
  stream INTEGER NOT NULL, seq INTEGER NOT NULL,
  first_event INTEGER NOT NULL, last_event INTEGER NOT NULL,
  t_first INTEGER NOT NULL, t_last INTEGER NOT NULL,
  codec INTEGER NOT NULL, records INTEGER NOT NULL,
  raw_size INTEGER NOT NULL, coded_size INTEGER NOT NULL,
  crc INTEGER NOT NULL, data BLOB NOT NULL,
  PRIMARY KEY(stream, seq));
CREATE INDEX chunk_by_event ON chunk(stream, last_event, seq, first_event);
CREATE TABLE file(id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, size INTEGER NOT NULL);
CREATE TABLE file_piece(
  file INTEGER NOT NULL, seq INTEGER NOT NULL, size INTEGER NOT NULL, data BLOB NOT NULL,
  PRIMARY KEY(file, seq));
CREATE TABLE capture(
  number INTEGER PRIMARY KEY, file INTEGER NOT NULL, path TEXT NOT NULL,
  device INTEGER NOT NULL, inode INTEGER NOT NULL, mtime_ns INTEGER NOT NULL);
CREATE TABLE snapshot(
  id INTEGER PRIMARY KEY, event INTEGER NOT NULL, ticks INTEGER NOT NULL, pc INTEGER NOT NULL,
  thread INTEGER NOT NULL, data BLOB NOT NULL);
CREATE TABLE page(
  snapshot INTEGER NOT NULL, process INTEGER NOT NULL, address INTEGER NOT NULL, data BLOB NOT NULL,
  PRIMARY KEY(snapshot, process, address));
CREATE TABLE bookmark(
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, event INTEGER NOT NULL, ticks INTEGER NOT NULL,
  pc INTEGER NOT NULL, note TEXT);
)sql";

// What people look up. Nothing here is read by replay.
constexpr const char* kPeopleTables = R"sql(
CREATE TABLE process(
  id INTEGER PRIMARY KEY, pid INTEGER, parent INTEGER, first_event INTEGER NOT NULL,
  last_event INTEGER, cause TEXT, status INTEGER);
CREATE TABLE thread(
  number INTEGER PRIMARY KEY, process INTEGER NOT NULL, tid INTEGER, creator INTEGER,
  first_event INTEGER NOT NULL, last_event INTEGER, ticks INTEGER, cause TEXT, status INTEGER);
CREATE TABLE image(
  event INTEGER PRIMARY KEY, thread INTEGER NOT NULL, process INTEGER NOT NULL, pc INTEGER NOT NULL,
  path TEXT NOT NULL, argv TEXT NOT NULL, envp TEXT NOT NULL);
CREATE TABLE mapping(
  event INTEGER PRIMARY KEY, thread INTEGER NOT NULL, address INTEGER NOT NULL, length INTEGER NOT NULL,
  protection INTEGER NOT NULL, flags INTEGER NOT NULL, file_offset INTEGER NOT NULL,
  device INTEGER NOT NULL, inode INTEGER NOT NULL, content TEXT NOT NULL, capture INTEGER, name TEXT NOT NULL);
CREATE TABLE timeslice(
  seq INTEGER PRIMARY KEY, thread INTEGER NOT NULL, first_event INTEGER NOT NULL, last_event INTEGER NOT NULL,
  ticks_from INTEGER NOT NULL, ticks_to INTEGER NOT NULL, end_pc INTEGER NOT NULL, reason TEXT NOT NULL,
  priority INTEGER, t_first INTEGER NOT NULL, t_last INTEGER NOT NULL);
CREATE TABLE preemption(
  event INTEGER PRIMARY KEY, thread INTEGER NOT NULL, ticks INTEGER NOT NULL, pc INTEGER NOT NULL,
  to_thread INTEGER NOT NULL, reason TEXT NOT NULL);
CREATE TABLE signal(
  event INTEGER PRIMARY KEY, thread INTEGER NOT NULL, ticks INTEGER NOT NULL, pc INTEGER NOT NULL,
  number INTEGER NOT NULL, asynchronous INTEGER NOT NULL, code INTEGER NOT NULL, sender INTEGER,
  address INTEGER);
CREATE TABLE exit(
  event INTEGER PRIMARY KEY, thread INTEGER NOT NULL, ticks INTEGER NOT NULL, pc INTEGER NOT NULL,
  cause TEXT NOT NULL, status INTEGER NOT NULL);
CREATE TABLE output(
  event INTEGER NOT NULL, piece INTEGER NOT NULL, thread INTEGER NOT NULL, fd INTEGER NOT NULL,
  data BLOB NOT NULL, PRIMARY KEY(event, piece)) WITHOUT ROWID;
CREATE TABLE unsupported(
  nr INTEGER NOT NULL, command INTEGER NOT NULL, first_event INTEGER NOT NULL, count INTEGER NOT NULL,
  errno INTEGER NOT NULL, PRIMARY KEY(nr, command)) WITHOUT ROWID;
CREATE TABLE event_kind(
  kind INTEGER PRIMARY KEY, name TEXT NOT NULL, records INTEGER NOT NULL,
  coded_bytes INTEGER NOT NULL, payload_bytes INTEGER NOT NULL);
CREATE TABLE syscall(
  event INTEGER PRIMARY KEY, thread INTEGER NOT NULL, ticks INTEGER NOT NULL, pc INTEGER NOT NULL,
  nr INTEGER NOT NULL, a0 INTEGER NOT NULL, a1 INTEGER NOT NULL, a2 INTEGER NOT NULL, a3 INTEGER NOT NULL,
  a4 INTEGER NOT NULL, a5 INTEGER NOT NULL, result INTEGER NOT NULL, errno INTEGER,
  duration_ns INTEGER NOT NULL);
CREATE TABLE descriptor(
  id INTEGER PRIMARY KEY, process INTEGER NOT NULL, fd INTEGER NOT NULL, path TEXT NOT NULL,
  first_event INTEGER NOT NULL, last_event INTEGER);
CREATE INDEX descriptor_by_fd ON descriptor(process, fd, first_event);
CREATE TABLE syscall_name(nr INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE errno_name(errno INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE signal_name(number INTEGER PRIMARY KEY, name TEXT NOT NULL);
)sql";

constexpr const char* kViews = R"sql(
CREATE VIEW call AS
  SELECT s.event, s.thread, t.process, s.ticks, s.pc, coalesce(n.name, 'syscall_' || s.nr) AS name,
         s.a0, s.a1, s.a2, s.a3, s.a4, s.a5, s.result, e.name AS error, s.duration_ns
  FROM syscall s LEFT JOIN thread t ON t.number = s.thread LEFT JOIN syscall_name n ON n.nr = s.nr
       LEFT JOIN errno_name e ON e.errno = s.errno;
CREATE VIEW file_io AS
  SELECT s.event, s.thread, t.process, n.name AS name, d.fd, d.path,
         CASE WHEN s.nr IN (0, 17, 19, 45, 47, 78, 217, 295, 327) THEN s.result ELSE 0 END AS bytes_read,
         CASE WHEN s.nr IN (1, 18, 20, 44, 46, 296, 328) THEN s.result ELSE 0 END AS bytes_written
  FROM syscall s JOIN thread t ON t.number = s.thread JOIN syscall_name n ON n.nr = s.nr
       JOIN descriptor d ON d.process = t.process AND d.fd = s.a0 AND d.first_event < s.event
            AND (d.last_event IS NULL OR d.last_event >= s.event)
  WHERE s.result >= 0
    AND s.nr IN (0, 17, 19, 45, 47, 78, 217, 295, 327, 1, 18, 20, 44, 46, 296, 328);
CREATE VIEW signals AS
  SELECT s.event || ':' || s.ticks || ':' || printf('0x%x', s.pc) AS position, s.event, s.thread,
         coalesce(n.name, 'SIGRT' || s.number) AS name, s.asynchronous, s.code, s.sender, s.address
  FROM signal s LEFT JOIN signal_name n ON n.number = s.number;
CREATE VIEW timeline AS
  SELECT s.seq, s.thread, t.process, s.first_event, s.last_event, s.ticks_to - s.ticks_from AS ticks,
         s.reason, s.t_last - s.t_first AS ns,
         strftime('%Y-%m-%d %H:%M:%f', s.t_first / 1e9, 'unixepoch') AS began
  FROM timeslice s LEFT JOIN thread t ON t.number = s.thread;
CREATE VIEW unsupported_calls AS
  SELECT coalesce(n.name, 'syscall_' || u.nr) AS name, u.nr, u.command, u.count, u.first_event,
         e.name AS error
  FROM unsupported u LEFT JOIN syscall_name n ON n.nr = u.nr LEFT JOIN errno_name e ON e.errno = u.errno;
)sql";

Status fill_syscall_names(sqlite::Database& database) {
  auto insert = database.prepare("INSERT INTO syscall_name VALUES(?, ?)");
  if (!insert) return insert.error();
  for (std::size_t i = 0; i < syscalls::row_count(); ++i) {
    const auto& row = syscalls::row_at(i);
    const auto done = insert.value().bind(std::int32_t{row.number}, std::string_view(row.name)).run();
    if (!done) return done;
  }
  return Done{};
}

Status fill_numbered_names(sqlite::Database& database, std::string_view sql, int last,
                           std::string_view (*name_of)(int)) {
  auto insert = database.prepare(sql);
  if (!insert) return insert.error();
  for (int number = 1; number <= last; ++number) {
    const std::string_view name = name_of(number);
    if (name.empty()) continue;
    const auto done = insert.value().bind(number, name).run();
    if (!done) return done;
  }
  return Done{};
}

}  // namespace

Status create_schema(sqlite::Database& database) {
  for (const char* sql : {kRunTables, kPeopleTables, kViews}) {
    const auto done = database.execute(sql);
    if (!done) return done;
  }
  const std::string versions = "PRAGMA application_id = " + std::to_string(kApplicationId) +
                               "; PRAGMA user_version = " + std::to_string(kSchemaVersion);
  if (const auto done = database.execute(versions.c_str()); !done) return done;
  if (const auto done = fill_syscall_names(database); !done) return done;
  if (const auto done = fill_numbered_names(database, "INSERT INTO errno_name VALUES(?, ?)",
                                            event::kLastErrno, event::errno_name);
      !done)
    return done;
  return fill_numbered_names(database, "INSERT INTO signal_name VALUES(?, ?)", event::kLastSignal,
                             event::signal_name);
}

Result<std::int32_t> check_schema(sqlite::Database& database, std::int32_t current) {
  const auto id = database.number("PRAGMA application_id");
  if (!id) return id.error();
  if (id.value() != kApplicationId)
    return Error{ErrorCode::kInvalid, "it is an SQLite file, but not a trace", {}};
  const auto version = database.number("PRAGMA user_version");
  if (!version) return version.error();
  const std::int64_t number = version.value().value_or(0);
  if (number > current)
    return Error{ErrorCode::kUnsupported,
                 "it was written by a newer detrec (trace version " + std::to_string(number) +
                     "; this one knows versions up to " + std::to_string(current) + ")",
                 {}};
  if (number < 1) return Error{ErrorCode::kInvalid, "it has no trace version", {}};
  return static_cast<std::int32_t>(number);
}

}  // namespace detrec::storage
