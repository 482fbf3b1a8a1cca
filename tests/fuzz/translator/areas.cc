#include "tests/fuzz/translator/areas.h"

#include <sys/mman.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace detrec::fuzz {
namespace {

struct Area {
  const char* name;
  u64 begin;
  u64 size;
};

constexpr Area kAreas[] = {
    {"low data", kLowData[0], kDataWritable},
    {"second low data", kLowData[1], kDataWritable},
    {"high data", kHighData[0], kDataWritable},
    {"second high data", kHighData[1], kDataWritable},
    {"low stack", kLowStack, kStackSize},
    {"high stack", kHighStack, kStackSize},
    {"low table", kLowTable, kPage},
    {"high table", kHighTable, kPage},
    {"control", kControl, kPage},
};

constexpr u64 kLargest = kStackSize;

u8* at(u64 address) { return reinterpret_cast<u8*>(address); }

void map(u64 begin, u64 size, int prot) {
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
  if (mmap(at(begin), size, prot, kFlags, -1, 0) != at(begin)) {
    std::perror("random_code: cannot map its memory");
    std::exit(2);
  }
}

/// Numbers of several kinds: small, random, floating-point of moderate size, patterns.
std::array<u64, kLargest / 8> make_contents(u64 seed) {
  std::array<u64, kLargest / 8> words;
  Random random(seed);
  for (u64& word : words) {
    const u64 bits = random.next();
    switch (random.below(6)) {
      case 0:
        word = bits & 0x3f;
        break;
      case 1: {
        const double value = static_cast<double>(static_cast<i32>(bits)) / 256;
        std::memcpy(&word, &value, sizeof word);
        break;
      }
      case 2: {
        const float value[2] = {static_cast<float>(static_cast<i32>(bits) >> 8),
                                static_cast<float>(bits >> 48)};
        std::memcpy(&word, value, sizeof word);
        break;
      }
      case 3:
        word = (bits & 1) != 0 ? ~0ull : 0;
        break;
      default:
        word = bits;
        break;
    }
  }
  return words;
}

}  // namespace

void map_areas() {
  constexpr int kWritable = PROT_READ | PROT_WRITE;
  for (const Area& area : kAreas) map(area.begin, area.size, kWritable);
  const auto contents = make_contents(1);
  for (const u64 data : {kLowData[0], kLowData[1], kHighData[0], kHighData[1]}) {
    map(data + kDataWritable, kDataSize - kDataWritable, kWritable);
    std::memcpy(at(data + kDataWritable), contents.data(), kPage);
    mprotect(at(data + kDataWritable), kPage, PROT_READ);
  }
}

void reset_areas(u64 seed, u64 fuel, u64 return_fuel) {
  constexpr unsigned kVariants = 16;
  static const auto variants = [] {
    std::array<std::array<u64, kLargest / 8>, kVariants> all;
    for (unsigned i = 0; i < kVariants; ++i) all[i] = make_contents(100 + i);
    return all;
  }();
  for (const Area& area : kAreas) {
    seed = mix(seed);
    std::memcpy(at(area.begin), variants[seed % kVariants].data(), area.size);
  }
  std::memset(at(kControl), 0, kPage);
  std::memcpy(at(kFuel), &fuel, sizeof fuel);
  std::memcpy(at(kReturnFuel), &return_fuel, sizeof return_fuel);
}

u64 hash_bytes(const void* bytes, u64 size, u64 seed) {
  constexpr u64 kFactor = 0xff51afd7ed558ccd;
  u64 lanes[4] = {seed, seed + 1, seed + 2, seed + 3};
  const u8* p = static_cast<const u8*>(bytes);
  for (u64 i = 0; i + 8 <= size; i += 8) {
    u64 word;
    std::memcpy(&word, p + i, sizeof word);
    u64& lane = lanes[i / 8 % 4];
    lane = (lane ^ word) * kFactor;
    lane ^= lane >> 29;
  }
  return mix(mix(mix(lanes[0]) + lanes[1]) + mix(mix(lanes[2]) + lanes[3]));
}

u64 hash_areas() {
  u64 hash = 0;
  for (const Area& area : kAreas) {
    // The word that holds the way out is the same everywhere, and the saved register is compared anyway.
    hash = hash_bytes(at(area.begin), area.size, hash);
  }
  return hash;
}

void print_areas() {
  for (const Area& area : kAreas) {
    std::printf("  %-17s %016lx\n", area.name, hash_bytes(at(area.begin), area.size));
    for (u64 i = 0; i < area.size; i += 256) {
      std::printf("    %lx: %016lx\n", area.begin + i, hash_bytes(at(area.begin + i), 256));
    }
  }
}

u64 data_address(Random& random, bool low, unsigned size) {
  const u64 area = low ? random.pick(kLowData) : random.pick(kHighData);
  const unsigned kind = random.below(100);
  if (kind < 72) return area + 64 * random.between(2, 124);
  if (kind < 88) return area + random.between(16, kDataWritable - 64);
  if (kind < 93) return area + kPage - random.below(size + 1u);          // from one page into the next
  if (kind < 95) return area + kDataWritable - random.below(size + 1u);  // into the read-only page
  if (kind < 97) return area + kDataWritable + random.below(kPage);
  if (kind < 99) return area + kDataSize - random.below(size + 1u);  // into nothing
  return area - random.between(1, 64);
}

}  // namespace detrec::fuzz
