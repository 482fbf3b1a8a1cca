// Compares the decoder with Zydis, instruction by instruction.
#pragma once

#include <Zydis/Zydis.h>

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "trace/guest/decode/insn.h"

namespace detrec::guest::test {

/// What Zydis says about some bytes.
struct Reference {
  ZyanStatus status;
  ZydisDecodedInstruction insn;
  std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands;

  bool ok() const { return ZYAN_SUCCESS(status); }
  std::span<const ZydisDecodedOperand> all_operands() const { return {operands.data(), insn.operand_count}; }
};

/// The properties that are compared, for reports and for the table of known differences.
enum class Property : std::uint8_t {
  kValidity,
  kLength,
  kLayout,  ///< offsets and sizes of ModRM, displacement, immediate
  kImmediate,
  kBranch,
  kSpecial,
  kMemory,
  kGprRead,
  kGprWritten,
  kFlags,
  kCount,
};
const char* name(Property property);

/// One disagreement.
struct Difference {
  Property property;
  std::string detail;
};

/// Statistics of a run of comparisons.
struct Tally {
  std::uint64_t compared = 0;
  std::uint64_t valid = 0;
  std::uint64_t mismatches = 0;
  std::vector<std::uint64_t> known;             ///< by index into the table of known differences
  std::map<std::string, std::string> examples;  ///< one mismatch for each mnemonic and property

  void add(const Tally& other);
  std::string summary() const;
};

class Oracle {
 public:
  Oracle();

  Reference reference(std::span<const std::uint8_t> code) const;

  /// Decodes `code` with both and adds the outcome to `tally`. Returns our length, or 0 if we say invalid.
  std::size_t compare(std::span<const std::uint8_t> code, Tally& tally) const;

  /// The disagreements, known ones included.
  std::vector<Difference> differences(const Reference& ref, DecodeStatus status, const Insn& insn) const;

  std::string disassemble(const Reference& ref) const;

 private:
  ZydisDecoder decoder_;
  ZydisFormatter formatter_;
};

std::string hex(std::span<const std::uint8_t> bytes);

}  // namespace detrec::guest::test
