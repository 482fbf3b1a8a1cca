// Draws single instructions: of every encoding, with operands that mostly make sense.
#pragma once

#include <vector>

#include "tests/fuzz/translator/random.h"
#include "trace/guest/decode/insn.h"

namespace detrec::fuzz {

/// What the registers of a sequence are for. Instructions that would spoil one of these are mostly drawn
/// again.
struct Roles {
  u8 pointers[3];  ///< addresses of data
  u8 index;        ///< a small number
  u8 loop;         ///< counts short loops
  bool low_data;   ///< the pointers' area
  bool low_code;   ///< what is within reach of rip
  bool exotic;     ///< instructions that store or load processor state
  u16 protected_mask() const {
    return static_cast<u16>(1u << pointers[0] | 1u << pointers[1] | 1u << pointers[2] | 1u << index |
                            1u << loop);
  }
};

struct DrawnInsn {
  std::vector<u8> bytes;
  /// Set for a rip-relative operand: where it shall lead.
  u64 rip_target = 0;
  u8 disp_offset = 0;
};

/// Any instruction that may stand anywhere: no branch, no system call, nothing whose result depends on the
/// machine. `keep` are registers it must not write (mostly).
DrawnInsn draw_insn(Random& random, const Roles& roles, u16 keep);

/// An integer instruction that reads status flags.
DrawnInsn draw_flag_reader(Random& random, const Roles& roles, u16 keep);

/// Whether an instruction that happens to stand in some bytes is harmless: draw_insn could have drawn it.
bool is_harmless(const guest::Insn& insn);

}  // namespace detrec::fuzz
