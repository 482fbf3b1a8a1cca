// Where random code lies and how it gets there: each way makes the engine notice new code differently.
#pragma once

#include <span>

#include "tests/fuzz/translator/random.h"

namespace detrec::fuzz {

enum class Placement : u8 {
  kLow,          ///< read-only while it runs, changed through mprotect
  kLowWritable,  ///< writable pages, each written now and then
  kLowBusy,      ///< one writable page that is written all the time
  kLowAlias,     ///< written through another mapping of the same memory
  kHigh,         ///< the first three again, above 2 GiB
  kHighWritable,
  kHighBusy,
  kLowFile,  ///< pages of a file, which is written and mapped anew: such code's translations are kept
  kHighFile,
};
inline constexpr unsigned kPlacements = 9;
inline bool is_file(Placement p) { return p == Placement::kLowFile || p == Placement::kHighFile; }
const char* name(Placement placement);
/// False if there is none of that name.
bool find_placement(const char* name, Placement& placement);

inline bool is_low(Placement p) { return p <= Placement::kLowAlias || p == Placement::kLowFile; }
inline bool is_writable(Placement p) {
  return p != Placement::kLow && p != Placement::kHigh && p != Placement::kLowAlias && !is_file(p);
}

/// Maps the regions, those of files of random_code.bin in this directory; ends the program when an address is
/// taken.
void map_code();

/// The address for `size` bytes of code: anywhere, across a page boundary more often than by chance, or so
/// that its end is cut off by memory that cannot be executed.
u64 choose_address(Random& random, Placement placement, u64 size);

/// Puts the code there (what does not fit is cut off) and removes what this placement held before.
void write_code(Placement placement, u64 address, std::span<const u8> code);

/// Whether `pc` is in memory that random code was put into.
bool is_code(u64 pc);

}  // namespace detrec::fuzz
