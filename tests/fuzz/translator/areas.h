// The memory that random code works on, at the same addresses natively and under the engine.
//
// A data area is [unmapped][2 writable pages][1 read-only page][unmapped]; a stack is 4 writable pages
// between unmapped ones. There are two data areas, a stack and a page of jump tables within reach of code in
// the lower 2 GiB, and the same around code far above.
#pragma once

#include "tests/fuzz/translator/random.h"

namespace detrec::fuzz {

inline constexpr u64 kPage = 4096;

inline constexpr u64 kDataWritable = 2 * kPage, kDataSize = 3 * kPage;
inline constexpr u64 kLowData[] = {0x3a00'0000, 0x1c00'0000};
inline constexpr u64 kHighCode = 0x2200'4000'0000;
inline constexpr u64 kHighData[] = {0x2200'3f00'0000, 0x2200'b800'0000};

inline constexpr u64 kStackSize = 4 * kPage;
inline constexpr u64 kLowStack = 0x3c00'0000, kHighStack = 0x2300'0000'0000;

/// Slots of 16 bytes: an address, and what far jumps want behind it.
inline constexpr u64 kLowTable = 0x3e00'0000, kHighTable = 0x2200'3e00'0000;
inline constexpr unsigned kSlotSize = 16, kSlots = kPage / kSlotSize;

/// Words that the generated code uses for itself, reached by absolute addresses.
inline constexpr u64 kControl = 0x3f00'0000;
inline constexpr u64 kFuel = kControl;             ///< backward branches left
inline constexpr u64 kSaved = kControl + 8;        ///< a register while fuel is looked at
inline constexpr u64 kExit = kControl + 16;        ///< where the code goes in the end
inline constexpr u64 kReturnFuel = kControl + 24;  ///< returns left
inline constexpr u64 kFrames = kControl + 64;      ///< rsp at the start of each function

/// Maps everything; ends the program when an address is taken.
void map_areas();
/// Fills data, stacks and tables with what `seed` says, with this many backward branches and returns left.
void reset_areas(u64 seed, u64 fuel, u64 return_fuel);
/// Over all that code can have written.
u64 hash_areas();
/// Prints the hash of each area, for finding out which one differs.
void print_areas();

/// An address for an operand of `size` bytes: mostly in writable data, and aligned; sometimes at an edge.
u64 data_address(Random& random, bool low, unsigned size);

/// Of bytes, 8 at a time (what is left over does not count).
u64 hash_bytes(const void* bytes, u64 size, u64 seed = 0);

}  // namespace detrec::fuzz
