#include "storage/read/open_trace.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "storage/schema.h"
#include "storage/sqlite_header.h"

namespace detrec::storage {
namespace {

bool has_journal(const std::filesystem::path& path) {
  struct stat status;
  return ::stat((path.string() + "-wal").c_str(), &status) == 0 && status.st_size > 0;
}

/// Looks at the file's first bytes: SQLite itself takes an empty file for an empty database, and finds a
/// missing end only when it gets there.
Status check_file(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Error{errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo, std::strerror(errno), {}};
  struct stat status {};
  std::array<unsigned char, sqlite_header::kBytes> header{};
  const bool readable = ::fstat(fd, &status) == 0;
  const ssize_t size = ::pread(fd, header.data(), header.size(), 0);
  const int code = errno;
  ::close(fd);
  if (readable && S_ISDIR(status.st_mode)) return Error{ErrorCode::kInvalid, "it is a directory", {}};
  if (!readable || size < 0) return Error{ErrorCode::kIo, std::strerror(code), {}};
  if (size == 0) {
    // What a recorder leaves that was killed before its first transaction was in the file itself.
    if (has_journal(path)) return Done{};
    return Error{ErrorCode::kInvalid, "it is empty", {}};
  }
  if (!sqlite_header::is_header(std::span(header).first(static_cast<std::size_t>(size))))
    return Error{ErrorCode::kInvalid, "it is not a trace", {}};
  const auto field = [&](std::size_t at) {
    return sqlite_header::big_endian(std::span(header).subspan(at, 4));
  };
  std::uint64_t page = sqlite_header::big_endian(std::span(header).subspan(sqlite_header::kPageSizeAt, 2));
  if (page == 1) page = 65536;
  const bool count_valid = field(sqlite_header::kChangeAt) == field(sqlite_header::kValidForAt);
  if (!has_journal(path) && count_valid &&
      static_cast<std::uint64_t>(status.st_size) < field(sqlite_header::kPagesAt) * page)
    return Error{ErrorCode::kInvalid, "it is cut off: its end is missing", {}};
  return Done{};
}

/// A file: URI for a path, with SQLite's `immutable`.
std::string immutable_uri(const std::filesystem::path& path) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string uri = "file:";
  for (const char c : std::filesystem::absolute(path).string()) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || std::strchr("/-_.~", c) != nullptr) {
      uri += c;
    } else {
      uri += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return uri + "?immutable=1";
}

}  // namespace

Result<sqlite::Database> open_trace(const std::filesystem::path& path, const SchemaVersions& versions) {
  if (const auto good = check_file(path); !good) return good.error();
  auto database = sqlite::Database::open(path.string(), SQLITE_OPEN_READONLY);
  if (!database) return database.error();
  auto version = check_schema(database.value(), versions.current);
  if (!version && version.error().code == ErrorCode::kIo) {
    // A file in write-ahead mode needs a place for its journal's index, and this folder gives none.
    if (has_journal(path)) {
      return Error{ErrorCode::kIo,
                   "its recording was cut off, and its journal (-wal) cannot be read here; copy both to a "
                   "folder that can be written",
                   {}};
    }
    database = sqlite::Database::open(immutable_uri(path), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
    if (!database) return database.error();
    version = check_schema(database.value(), versions.current);
  }
  if (!version) return version.error();
  if (version.value() == versions.current) return database;

  auto writable = sqlite::Database::open(path.string(), SQLITE_OPEN_READWRITE);
  const auto converted = writable ? migrate(writable.value(), version.value(), versions) : writable.error();
  if (!converted) {
    Error error = converted.error();
    error.message = "it has the older trace version " + std::to_string(version.value()) +
                    " and could not be converted: " + error.message;
    return error;
  }
  return sqlite::Database::open(path.string(), SQLITE_OPEN_READONLY);
}

}  // namespace detrec::storage
