#include "tests/fuzz/translator/code_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tests/fuzz/translator/areas.h"

namespace detrec::fuzz {
namespace {

struct Region {
  const char* name;
  u64 begin;
  u64 pages;
  u64 alias;     ///< another mapping to write through, or 0
  u64 used = 0;  ///< what is there now
  u64 used_size = 0;
  u64 end() const { return begin + pages * kPage; }
};

Region regions[kPlacements] = {
    {"low", 0x3000'0000, 4, 0},
    {"low-writable", 0x3100'0000, 256, 0},
    {"low-busy", 0x3200'0000, 2, 0},
    {"low-alias", 0x3300'0000, 16, 0x2200'3d00'0000},
    {"high", kHighCode, 4, 0},
    {"high-writable", kHighCode + 0x100'0000, 256, 0},
    {"high-busy", kHighCode + 0x200'0000, 2, 0},
    {"low-file", 0x3400'0000, 16, 0},
    {"high-file", kHighCode + 0x300'0000, 16, 0},
};

Region& region(Placement placement) { return regions[static_cast<unsigned>(placement)]; }

u8* at(u64 address) { return reinterpret_cast<u8*>(address); }

void map(u64 begin, u64 size, int prot, int flags, int fd) {
  if (mmap(at(begin), size, prot, flags | MAP_FIXED_NOREPLACE, fd, 0) != at(begin)) {
    std::perror("random_code: cannot map memory for code");
    std::exit(2);
  }
}

constexpr u8 kTrap = 0xcc;

int code_file = -1;

/// Makes the file's part the region's content, and maps it over what is there.
void write_file(Placement placement, u64 address, std::span<const u8> code) {
  const Region& r = region(placement);
  std::vector<u8> content(r.pages * kPage, kTrap);
  std::copy(code.begin(), code.end(), content.begin() + static_cast<std::ptrdiff_t>(address - r.begin));
  const off_t offset = placement == Placement::kHighFile ? static_cast<off_t>(content.size()) : 0;
  void* const place = at(r.begin);
  if (pwrite(code_file, content.data(), content.size(), offset) != static_cast<ssize_t>(content.size()) ||
      mmap(place, content.size(), PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, code_file, offset) !=
          place) {
    std::perror("random_code: cannot map random_code.bin");
    std::exit(2);
  }
}

}  // namespace

const char* name(Placement placement) { return region(placement).name; }

bool find_placement(const char* name, Placement& placement) {
  for (unsigned i = 0; i < kPlacements; ++i) {
    if (std::strcmp(regions[i].name, name) != 0) continue;
    placement = static_cast<Placement>(i);
    return true;
  }
  return false;
}

void map_code() {
  constexpr int kAll = PROT_READ | PROT_WRITE | PROT_EXEC;
  code_file = open("random_code.bin", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  for (Region& r : regions) {
    const u64 size = r.pages * kPage;
    if (r.alias != 0) {
      const int fd = memfd_create("code", 0);
      if (fd < 0 || ftruncate(fd, static_cast<off_t>(size)) != 0) std::exit(2);
      map(r.begin, size, PROT_READ | PROT_EXEC, MAP_SHARED, fd);
      map(r.alias, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
      std::memset(at(r.alias), kTrap, size);
    } else {
      map(r.begin, size, kAll, MAP_PRIVATE | MAP_ANONYMOUS, -1);
      std::memset(at(r.begin), kTrap, size);
    }
  }
  for (const Placement p : {Placement::kLow, Placement::kHigh})
    mprotect(at(region(p).begin), region(p).pages * kPage, PROT_READ | PROT_EXEC);
  for (const Placement p : {Placement::kLowFile, Placement::kHighFile}) write_file(p, region(p).begin, {});
}

u64 choose_address(Random& random, Placement placement, u64 size) {
  const Region& r = region(placement);
  if (random.chance(2) && size > 1) return r.end() - 1 - random.below(size);  // cut off
  const u64 room = r.end() - r.begin - size;
  if (r.pages > 1 && size > 1 && random.chance(30)) {
    const u64 boundary = r.begin + kPage * (1 + random.below(r.pages - 1));
    const u64 before = 1 + random.below(size - 1);
    if (boundary - before >= r.begin && boundary - before + size <= r.end()) return boundary - before;
  }
  return r.begin + random.below(room);
}

void write_code(Placement placement, u64 address, std::span<const u8> code) {
  Region& r = region(placement);
  const bool locked = placement == Placement::kLow || placement == Placement::kHigh;
  const u64 size = std::min<u64>(code.size(), r.end() - address);
  constexpr int kAll = PROT_READ | PROT_WRITE | PROT_EXEC;
  if (is_file(placement)) return write_file(placement, address, code.first(size));
  if (locked) mprotect(at(r.begin), r.pages * kPage, (address & 1) != 0 ? kAll : PROT_READ | PROT_WRITE);
  const u64 shift = r.alias != 0 ? r.alias - r.begin : 0;
  std::memset(at(r.used + shift), kTrap, r.used_size);
  std::memcpy(at(address + shift), code.data(), size);
  r.used = address;
  r.used_size = size;
  if (locked) mprotect(at(r.begin), r.pages * kPage, PROT_READ | PROT_EXEC);
}

bool is_code(u64 pc) {
  return std::any_of(std::begin(regions), std::end(regions),
                     [pc](const Region& r) { return pc >= r.begin && pc < r.end(); });
}

}  // namespace detrec::fuzz
