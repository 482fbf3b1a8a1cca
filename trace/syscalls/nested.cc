#include "trace/syscalls/nested.h"

#include <asm/errno.h>

namespace detrec::syscalls::detail {
namespace {

constexpr int kCapget = 125;
constexpr int kCapset = 126;
constexpr int kNameToHandleAt = 303;

constexpr std::uint64_t kFiemap = 0xc020660b;
constexpr std::uint64_t kFiDedupeRange = 0xc0189436;
constexpr std::uint64_t kGetFsMap = 0xc0c0583b;
constexpr std::uint64_t kSiocGifConf = 0x8912;
constexpr std::uint64_t kRndAddEntropy = 0x40085203;

// capget(2): a version is asked for; an unknown one is overwritten by the one that is preferred.
constexpr std::uint32_t kCapabilityVersion1 = 0x19980330;
constexpr std::uint32_t kCapabilityVersion2 = 0x20071026;
constexpr std::uint32_t kCapabilityVersion3 = 0x20080522;

bool is_capability_version(std::uint32_t version) {
  return version == kCapabilityVersion1 || version == kCapabilityVersion2 || version == kCapabilityVersion3;
}

std::uint32_t capability_version(Walk& walk) {
  if (walk.goal() == Goal::kWritten && walk.before() != nullptr && walk.before()->captured) {
    return walk.before()->header_word;
  }
  std::uint32_t version = 0;
  return walk.arg(0) != 0 && walk.load(walk.arg(0), version) ? version : 0;
}

// Three words for 32 capabilities, of which version 1 has one set and the others have two.
std::uint64_t capability_data_size(std::uint32_t version) {
  if (!is_capability_version(version)) return 0;
  return version == kCapabilityVersion1 ? 12 : 24;
}

void write_capability(Walk& walk, int index) {
  const std::uint32_t version = capability_version(walk);
  if (index == 0) {
    if (!is_capability_version(version)) walk.emit(walk.arg(0), 4);
  } else {
    walk.emit(walk.arg(1), capability_data_size(version));
  }
}

// struct fiemap: 32 bytes, then fm_extent_count (at 24) extents of 56 bytes, of which fm_mapped_extents (at
// 20) were filled in. With a count of 0 extents are only counted.
void write_fiemap(Walk& walk, std::uint64_t address) {
  std::uint32_t counts[2];  // mapped, room
  if (!walk.load(address + 20, counts)) return;
  walk.emit(address, 32);
  if (walk.goal() == Goal::kWritten && walk.result() < 0) return;
  const std::uint64_t extents = walk.goal() == Goal::kWritten ? smaller(counts[0], counts[1]) : counts[1];
  walk.emit(address + 32, extents * 56);
}

// struct fsmap_head: 192 bytes, then fmh_count (at 8) records of 64 bytes, of which fmh_entries (at 12) were
// filled in.
void write_fsmap(Walk& walk, std::uint64_t address) {
  std::uint32_t counts[2];  // room, used
  if (!walk.load(address + 8, counts)) return;
  walk.emit(address, 192);
  const std::uint64_t records = walk.goal() == Goal::kWritten ? smaller(counts[0], counts[1]) : counts[0];
  walk.emit(address + 192, records * 64);
}

// struct file_dedupe_range: 24 bytes, then dest_count (at 16) entries of 32 bytes; all of it is copied back.
std::uint64_t dedupe_size(Walk& walk, std::uint64_t address) {
  std::uint16_t count = 0;
  return walk.load(address + 16, count) ? 24 + std::uint64_t{count} * 32 : 0;
}

// struct ifconf: length (at 0) and address (at 8) of a buffer; the length becomes that of what was filled in.
void write_ifconf(Walk& walk, std::uint64_t address) {
  std::uint32_t length = 0;
  std::uint64_t buffer = 0;
  if (!walk.load(address, length) || !walk.load(address + 8, buffer)) return;
  walk.emit(address, 4);
  walk.emit(buffer, length);
}

// struct keyctl_pkey_params: the room for the output at 8.
void write_pkey_output(Walk& walk, std::uint64_t address) {
  std::uint32_t room = 0;
  if (walk.arg(1) != 0 && walk.load(walk.arg(1) + 8, room))
    walk.emit(address, smaller(room, walk.transferred()));
}

}  // namespace

void read_nested(Walk& walk, int index) {
  const std::uint64_t address = walk.arg(index);
  if (walk.row().number == kCapget || walk.row().number == kCapset) {
    walk.emit(address, index == 0 ? 8 : capability_data_size(capability_version(walk)));
    return;
  }
  if (walk.row().commands != Commands::kIoctl || walk.command() == nullptr) return;
  switch (walk.command()->key) {
    case kFiemap:
      return walk.emit(address, 32);
    case kGetFsMap:
      return walk.emit(address, 192);
    case kFiDedupeRange:
      return walk.emit(address, dedupe_size(walk, address));
    case kSiocGifConf:
      return walk.emit(address, 16);
    case kRndAddEntropy: {
      std::uint32_t size = 0;
      if (walk.load(address + 4, size)) walk.emit(address, 8 + std::uint64_t{size});
      return;
    }
    default:
      return;
  }
}

void write_nested(Walk& walk, int index) {
  const std::uint64_t address = walk.arg(index);
  switch (walk.row().number) {
    case kCapget:
    case kCapset:
      return write_capability(walk, index);
    case kNameToHandleAt: {
      constexpr std::uint64_t kUniqueMountId = 1;  // AT_HANDLE_MNT_ID_UNIQUE
      return walk.emit(address, (walk.arg(4) & kUniqueMountId) != 0 ? 8 : 4);
    }
    default:
      break;
  }
  if (walk.command() == nullptr) return;
  if (walk.row().commands == Commands::kKeyctl) return write_pkey_output(walk, address);
  switch (walk.command()->key) {
    case kFiemap:
      return write_fiemap(walk, address);
    case kGetFsMap:
      return write_fsmap(walk, address);
    case kFiDedupeRange:
      return walk.emit(address, dedupe_size(walk, address));
    case kSiocGifConf:
      return write_ifconf(walk, address);
    default:
      return;
  }
}

}  // namespace detrec::syscalls::detail
