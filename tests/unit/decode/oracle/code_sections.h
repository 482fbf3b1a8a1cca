// The executable sections of ELF files.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace detrec::guest::test {

/// An x86-64 ELF file in memory and where its code is. Empty if it cannot be read or is something else.
class CodeFile {
 public:
  explicit CodeFile(const std::string& path);

  std::span<const std::span<const std::uint8_t>> sections() const { return sections_; }

 private:
  std::vector<std::uint8_t> bytes_;
  std::vector<std::span<const std::uint8_t>> sections_;
};

/// The files that this process has mapped: itself and its libraries.
std::vector<std::string> mapped_files();

}  // namespace detrec::guest::test
