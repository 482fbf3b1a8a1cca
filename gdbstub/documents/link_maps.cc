#include "gdbstub/documents/link_maps.h"

#include <elf.h>

#include <array>
#include <cstring>
#include <optional>

#include "gdbstub/target.h"

namespace detrec::gdbstub::documents {

namespace {

// Bounds for memory that is not what it should be: lists may be circular there.
constexpr std::size_t kMaxHeaders = 512;
constexpr std::size_t kMaxDynamic = 1024;
constexpr std::size_t kMaxLibraries = 10'000;
constexpr std::size_t kMaxPath = 4096;

/// struct r_debug and struct link_map of <link.h>, with addresses in place of pointers.
struct DebugRecord {
  std::int32_t version;
  std::uint64_t map;
};
struct LinkMap {
  std::uint64_t load_bias;
  std::uint64_t name;
  std::uint64_t dynamic_section;
  std::uint64_t next;
  std::uint64_t previous;
};

class Walker {
 public:
  Walker(Target& target, ProcessId process) : target_(target), process_(process) {}

  Result<LibraryList> walk() {
    const auto auxv = target_.auxv(process_);
    if (!auxv) return auxv.error();
    LibraryList list;
    const auto dynamic = find_dynamic(auxv.value());
    const auto debug = dynamic ? find_debug(*dynamic) : std::nullopt;
    if (!debug) return list;
    auto next = read<DebugRecord>(*debug);
    if (!next) return list;
    list.main_link_map = {next->map};
    for (auto at = next->map; at != 0 && list.libraries.size() < kMaxLibraries;) {
      const auto map = read<LinkMap>(at);
      if (!map) break;
      // The first entry is the executable, which gdb knows already.
      if (at != next->map) {
        list.libraries.push_back({read_text(map->name), {at}, {map->load_bias}, {map->dynamic_section}});
      }
      at = map->next;
    }
    return list;
  }

 private:
  template <typename T>
  std::optional<T> read(std::uint64_t address) {
    std::array<std::uint8_t, sizeof(T)> bytes{};
    const auto count = target_.read_memory(process_, {address}, bytes);
    if (!count || count.value() != bytes.size()) return std::nullopt;
    T value;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }

  std::string read_text(std::uint64_t address) {
    std::array<std::uint8_t, kMaxPath> bytes{};
    const auto count = target_.read_memory(process_, {address}, bytes);
    if (!count) return {};
    const auto* begin = reinterpret_cast<const char*>(bytes.data());
    return {begin, strnlen(begin, count.value())};
  }

  std::optional<std::uint64_t> find_dynamic(std::span<const std::uint8_t> auxv) {
    std::uint64_t headers = 0;
    std::uint64_t count = 0;
    for (; auxv.size() >= sizeof(Elf64_auxv_t); auxv = auxv.subspan(sizeof(Elf64_auxv_t))) {
      Elf64_auxv_t entry;
      std::memcpy(&entry, auxv.data(), sizeof entry);
      if (entry.a_type == AT_PHDR) headers = entry.a_un.a_val;
      if (entry.a_type == AT_PHNUM) count = entry.a_un.a_val;
    }
    std::uint64_t bias = 0;
    std::optional<std::uint64_t> dynamic;
    for (std::size_t i = 0; i < count && i < kMaxHeaders; ++i) {
      const auto header = read<Elf64_Phdr>(headers + i * sizeof(Elf64_Phdr));
      if (!header) break;
      if (header->p_type == PT_PHDR) bias = headers - header->p_vaddr;
      if (header->p_type == PT_DYNAMIC) dynamic = header->p_vaddr;
    }
    if (!dynamic) return std::nullopt;
    return *dynamic + bias;
  }

  std::optional<std::uint64_t> find_debug(std::uint64_t dynamic) {
    for (std::size_t i = 0; i < kMaxDynamic; ++i) {
      const auto entry = read<Elf64_Dyn>(dynamic + i * sizeof(Elf64_Dyn));
      if (!entry || entry->d_tag == DT_NULL) return std::nullopt;
      if (entry->d_tag == DT_DEBUG) {
        return entry->d_un.d_ptr == 0 ? std::nullopt : std::optional<std::uint64_t>(entry->d_un.d_ptr);
      }
    }
    return std::nullopt;
  }

  Target& target_;
  ProcessId process_;
};

}  // namespace

Result<LibraryList> walk_link_maps(Target& target, ProcessId process) {
  return Walker(target, process).walk();
}

}  // namespace detrec::gdbstub::documents
