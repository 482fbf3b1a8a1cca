// A piece of random code before it has an address: items with labels, which survive that some are left out.
#pragma once

#include <string>
#include <vector>

#include "tests/fuzz/translator/insn_generator.h"

namespace detrec::fuzz {

/// A place in the code: so many bytes into an item. If the item is left out, the next one takes its place.
struct Label {
  int item = -1;
  u8 offset = 0;
};

enum class FixupKind : u8 {
  kRel32,       ///< to the label
  kAbs32,       ///< the label's address
  kAbs64,       ///< the label's address
  kRipAddress,  ///< 32-bit displacement to `address`
  kLabelByte,   ///< 32-bit displacement to the label, for changing code: if its item is left out, to data
  kEnd8,        ///< 8-bit displacement to the end of the item
};

struct Fixup {
  u8 at;  ///< offset of the field in the item
  FixupKind kind;
  u8 trailing;  ///< bytes from the field's end to the end of the instruction
  u64 address;
  Label label;
};

/// A direct branch that ends an item, in its short or its near form.
struct Jump {
  bool present = false;
  bool near = false;  ///< wanted; short ones become near when the target is too far
  u8 opcode = 0;      ///< eb, 70..7f, e0..e3
  std::vector<u8> prefixes;
  Label target;
};

/// An address that the layout stores in a jump table.
struct Slot {
  u64 address;
  Label label;
};

struct Item {
  std::string what;
  std::vector<u8> bytes;
  std::vector<Fixup> fixups;
  std::vector<Slot> slots;
  Jump jump;
  std::vector<u8> tail;  ///< behind the jump
  int section = 0;
  int region = 0;      ///< a loop's body, which must not be entered from outside; 0: none
  bool plain = false;  ///< one straight-line instruction
  bool dropped = false;
};

struct Program {
  std::vector<Item> items;
  int entry = 0;  ///< item where execution begins
};

struct Layout {
  std::vector<u8> code;
  std::vector<u64> item_address;  ///< of a dropped item: of the next
  u64 entry = 0;
  u64 end_of(int item) const { return item_address[static_cast<std::size_t>(item) + 1]; }
};

/// Gives the program addresses from `base` on and stores its jump tables, which must be mapped.
Layout lay_out(const Program& program, u64 base);

}  // namespace detrec::fuzz
