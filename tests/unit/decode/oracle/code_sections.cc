#include "tests/unit/decode/oracle/code_sections.h"

#include <elf.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <set>

namespace detrec::guest::test {

CodeFile::CodeFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return;
  bytes_.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  if (bytes_.size() < sizeof(Elf64_Ehdr)) return;
  Elf64_Ehdr header;
  std::memcpy(&header, bytes_.data(), sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_machine != EM_X86_64)
    return;
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    const std::uint64_t at = header.e_shoff + std::uint64_t{i} * sizeof(Elf64_Shdr);
    if (at + sizeof(Elf64_Shdr) > bytes_.size()) return;
    Elf64_Shdr section;
    std::memcpy(&section, bytes_.data() + at, sizeof section);
    const bool code = (section.sh_flags & SHF_EXECINSTR) != 0 && section.sh_type == SHT_PROGBITS;
    if (!code || section.sh_offset + section.sh_size > bytes_.size()) continue;
    sections_.emplace_back(bytes_.data() + section.sh_offset, section.sh_size);
  }
}

std::vector<std::string> mapped_files() {
  std::ifstream maps("/proc/self/maps");
  std::set<std::string> paths;
  for (std::string line; std::getline(maps, line);) {
    const std::size_t slash = line.find('/');
    if (slash != std::string::npos) paths.insert(line.substr(slash));
  }
  return {paths.begin(), paths.end()};
}

}  // namespace detrec::guest::test
