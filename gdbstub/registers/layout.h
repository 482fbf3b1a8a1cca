// The registers as gdb numbers them: one list, from which target.xml, `g`, `p` and the bytecode's `reg` are
// made, so that their sizes cannot disagree.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gdbstub/ids.h"
#include "gdbstub/registers.h"

namespace detrec::gdbstub::registers {

enum class Feature : std::uint8_t { kCore, kSse, kLinux, kSegments, kAvx, kAvx512 };
enum class Part : std::uint8_t { kGeneral, kX87, kVector };

/// One register of target.xml; its number is its place in the list.
struct RegisterRow {
  std::string name;
  Feature feature;
  Part part;
  const char* type;                                      ///< of target.xml
  const char* group;                                     ///< of target.xml, null if none
  std::uint32_t size;                                    ///< bytes
  std::uint8_t& (*at)(Registers&, std::uint32_t index);  ///< its first byte; little endian, `size` bytes
  std::uint32_t index;                                   ///< which of its kind
};

/// Numbers that gdb and the stop replies use; the same in every layout.
inline constexpr RegisterNumber kRbp{6};
inline constexpr RegisterNumber kRsp{7};
inline constexpr RegisterNumber kRip{16};

/// The list for one vector level.
class Layout {
 public:
  explicit Layout(VectorLevel level);

  VectorLevel level() const { return level_; }
  std::span<const RegisterRow> rows() const { return rows_; }
  std::size_t total_size() const { return total_size_; }  ///< bytes, of all registers: half of a `g` reply

  /// Is this part of `registers` known?
  static bool known(const RegisterRow& row, const Registers& registers);
  /// The bytes of one register, nothing if there is no such number.
  std::optional<std::vector<std::uint8_t>> get(const Registers& registers, RegisterNumber number) const;
  /// False if there is no such number, or `bytes` has another size.
  bool set(Registers& registers, RegisterNumber number, std::span<const std::uint8_t> bytes) const;

  /// One register in hexadecimal, `xx` for each byte if unknown; nothing if there is no such number.
  std::optional<std::string> get_hex(const Registers& registers, RegisterNumber number) const;
  /// All registers in order, as `g` replies.
  std::string all_hex(const Registers& registers) const;
  /// As `G` sends; a register given as `xx`s keeps its value. False if the text is malformed or too short.
  bool set_all_hex(Registers& registers, std::string_view text) const;

 private:
  VectorLevel level_;
  std::vector<RegisterRow> rows_;
  std::size_t total_size_ = 0;
};

}  // namespace detrec::gdbstub::registers
