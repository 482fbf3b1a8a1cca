#include "tests/unit/storage/trace_folder.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace detrec::storage::testing {

TraceFolder::TraceFolder() {
  std::string name = std::filesystem::temp_directory_path() / "detrec-storage-XXXXXX";
  EXPECT_NE(::mkdtemp(name.data()), nullptr);
  folder_ = name;
}

TraceFolder::~TraceFolder() {
  std::error_code ignored;
  std::filesystem::permissions(folder_, std::filesystem::perms::owner_all, ignored);
  std::filesystem::remove_all(folder_, ignored);
}

RecordingInfo sample_info() {
  RecordingInfo info;
  info.command = {"sample", "an argument", "\xff"};
  info.directory = "/tmp";
  info.host = "testhost";
  info.kernel = "6.1";
  info.cpu_model = "x86-64-v2";
  info.detrec_version = "0.1.0";
  info.started = {1'700'000'000'000'000'000};
  info.more["slice"] = "100000";
  return info;
}

void add_all(TraceWriter& writer, std::span<const std::byte> records, std::uint64_t start_ns) {
  event::for_each_record(records, [&](std::span<const std::byte> record) {
    const auto added = writer.add(record, {start_ns += 1'000'000});
    ASSERT_TRUE(added.ok()) << to_string(added.error());
  });
}

void write_trace(const std::filesystem::path& path, std::span<const std::byte> records,
                 WriterOptions options) {
  auto writer = TraceWriter::create(path, sample_info(), options);
  ASSERT_TRUE(writer.ok()) << to_string(writer.error());
  add_all(*writer.value(), records);
  const auto finished = writer.value()->finish({{1'700'000'009'000'000'000}, 3, 1234, "exit"});
  ASSERT_TRUE(finished.ok()) << to_string(finished.error());
}

std::vector<std::byte> read_records(const std::filesystem::path& path, EventNumber from) {
  std::vector<std::byte> records;
  auto reader = TraceReader::open(path);
  EXPECT_TRUE(reader.ok()) << to_string(reader.error());
  if (!reader) return records;
  auto cursor = reader.value()->events(from);
  EXPECT_TRUE(cursor.ok()) << to_string(cursor.error());
  if (!cursor) return records;
  while (true) {
    const auto record = cursor.value().next();
    EXPECT_TRUE(record.ok()) << to_string(record.error());
    if (!record || !record.value()) return records;
    records.insert(records.end(), record.value()->bytes.begin(), record.value()->bytes.end());
  }
}

std::vector<std::string> query(const std::filesystem::path& path, const std::string& sql) {
  sqlite3* database = nullptr;
  std::vector<std::string> rows;
  char* message = nullptr;
  if (sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READWRITE, nullptr) == SQLITE_OK) {
    sqlite3_exec(
        database, sql.c_str(),
        [](void* to, int columns, char** values, char**) {
          std::string row;
          for (int i = 0; i < columns; ++i) {
            if (i != 0) row += '|';
            row += values[i] == nullptr ? "" : values[i];
          }
          static_cast<std::vector<std::string>*>(to)->push_back(row);
          return 0;
        },
        &rows, &message);
  }
  if (message != nullptr) rows = {message};
  sqlite3_free(message);
  sqlite3_close(database);
  return rows;
}

std::vector<std::byte> bytes_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

bool same(std::span<const std::byte> a, std::span<const std::byte> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

}  // namespace detrec::storage::testing
