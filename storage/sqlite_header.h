// Of an SQLite file's first page: https://www.sqlite.org/fileformat2.html#the_database_header
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace detrec::storage::sqlite_header {

inline constexpr std::size_t kBytes = 100;
inline constexpr std::string_view kMagic("SQLite format 3\0", 16);
/// Where fields of four bytes stand; the page size has two.
inline constexpr std::size_t kPageSizeAt = 16, kChangeAt = 24, kPagesAt = 28, kApplicationIdAt = 68,
                             kValidForAt = 92;

/// Whether the file's first bytes are a whole header.
inline bool is_header(std::span<const unsigned char> bytes) {
  return bytes.size() >= kBytes && std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) == 0;
}

inline std::uint32_t big_endian(std::span<const unsigned char> bytes) {
  std::uint32_t value = 0;
  for (const unsigned char byte : bytes) value = value << 8 | byte;
  return value;
}

}  // namespace detrec::storage::sqlite_header
