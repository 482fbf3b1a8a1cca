// The fields of an instruction's encoding while it is being decoded.
#pragma once

#include <cstdint>

#include "trace/guest/decode/insn.h"
#include "trace/guest/decode/tables/row.h"

namespace detrec::guest::tables {

/// Bytes that must be readable at Fields::code: 15 prefixes, an opcode of 3, ModRM, SIB, displacement,
/// immediate.
inline constexpr std::size_t kReadAhead = 40;

struct Fields {
  const std::uint8_t* code;  ///< kReadAhead bytes, those behind the available ones being zero
  unsigned pos = 0;  ///< of the next byte to be looked at; beyond the limit means that bytes are missing
  const Row* row = nullptr;
  Table table = Table::k1Byte;
  Encoding encoding = Encoding::kLegacy;
  OpcodeMap map = OpcodeMap::k1Byte;
  Segment segment = Segment::kNone;
  std::uint16_t prefixes = 0;
  std::uint8_t rep_byte = 0;  ///< the last of F2 and F3
  std::uint8_t rex = 0;
  std::uint8_t opcode = 0;
  std::uint8_t modrm = 0;
  bool is_mem = false;
  unsigned operand_size = 4;
  // Register extension: 0 or 8 for R, X, B; 0 or 16 for EVEX.R', V'.
  unsigned r = 0, x = 0, b = 0, r2 = 0, v2 = 0;
  unsigned w = 0;
  unsigned pp = 0;  ///< none, 66, F3, F2 - the order of VEX.pp and of the bits of a row's match
  unsigned l = 0;
  unsigned vvvv = 0;
  unsigned aaa = 0;
  bool evex_b = false, evex_z = false;

  bool has(std::uint16_t prefix) const { return (prefixes & prefix) != 0; }
  bool attr(std::uint32_t attributes) const { return (row->attrs & attributes) != 0; }
  unsigned reg() const { return ((modrm >> 3) & 7u) | r; }
  unsigned rm() const { return (modrm & 7u) | b; }
};

/// Reads the rest of a VEX, EVEX or XOP prefix whose first byte, of class kVex2 and so on, has been read, up
/// to and including the opcode. False if there is no such map, or reserved bits are set.
bool read_vex2(Fields& f);
bool read_vex3(Fields& f);
bool read_evex(Fields& f);
bool read_xop(Fields& f);

/// What VEX, EVEX and XOP encodings must obey beyond the row's match.
bool vector_operands_valid(const Fields& f, const Insn& insn);

/// EVEX: sets the size of a broadcast operand and scales an 8-bit displacement. mem[0].size has been set.
void finish_evex_memory(const Fields& f, Insn& insn);

/// Adds the row's implicit memory operands, and what goes with them.
void add_implicit_memory(const Fields& f, Insn& insn);

}  // namespace detrec::guest::tables
