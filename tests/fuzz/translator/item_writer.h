// Writes the bytes of one item: the few fixed instructions that control flow is made of.
#pragma once

#include <initializer_list>
#include <utility>

#include "tests/fuzz/translator/areas.h"
#include "tests/fuzz/translator/program.h"

namespace detrec::fuzz {

class ItemWriter {
 public:
  explicit ItemWriter(std::string what) { item_.what = std::move(what); }

  void put(std::initializer_list<unsigned> bytes) {
    for (const unsigned b : bytes) item_.bytes.push_back(static_cast<u8>(b));
  }
  void put32(u64 value) {
    for (unsigned i = 0; i < 4; ++i) item_.bytes.push_back(static_cast<u8>(value >> 8 * i));
  }
  void put64(u64 value) { put32(value), put32(value >> 32); }

  /// A field of `size` bytes that the layout fills in.
  void fixup(FixupKind kind, unsigned size, Label label, u64 address = 0, u8 trailing = 0) {
    item_.fixups.push_back({static_cast<u8>(item_.bytes.size()), kind, trailing, address, label});
    item_.bytes.insert(item_.bytes.end(), size, 0);
  }

  void insn(const DrawnInsn& drawn) {
    if (drawn.rip_target != 0) {
      const std::size_t field = item_.bytes.size() + drawn.disp_offset;
      item_.fixups.push_back({static_cast<u8>(field),
                              FixupKind::kRipAddress,
                              static_cast<u8>(drawn.bytes.size() - drawn.disp_offset - 4),
                              drawn.rip_target,
                              {}});
    }
    item_.bytes.insert(item_.bytes.end(), drawn.bytes.begin(), drawn.bytes.end());
  }

  /// mov r64, [address] and mov [address], r64, of an address in the lower 2 GiB
  void load(u8 reg, u64 address) { absolute(0x8b, reg, address); }
  void store(u8 reg, u64 address) { absolute(0x89, reg, address); }
  /// mov r32 or r64, value
  void set(u8 reg, u64 value) {
    if (value < 0x1'0000'0000) {
      if (reg >= 8) put({0x41});
      put({0xb8u | (reg & 7)});
      put32(value);
    } else {
      put({0x48u | (reg >= 8), 0xb8u | (reg & 7)});
      put64(value);
    }
  }
  void push(u8 reg) {
    if (reg >= 8) put({0x41});
    put({0x50u | (reg & 7)});
  }
  void pop(u8 reg) {
    if (reg >= 8) put({0x41});
    put({0x58u | (reg & 7)});
  }
  /// lea rsp, [rsp + disp]
  void move_stack(int disp) { put({0x48, 0x8d, 0x64, 0x24, static_cast<u8>(disp)}); }

  /// Ends the item with a direct branch.
  void jump(u8 opcode, Label target, bool near, std::vector<u8> prefixes = {}) {
    item_.jump = {true, near, opcode, std::move(prefixes), target};
  }

  Item& item() { return item_; }

 private:
  void absolute(unsigned opcode, u8 reg, u64 address) {
    put({0x48u | (reg >= 8 ? 4 : 0), opcode, 0x04u | (reg & 7u) << 3, 0x25});
    put32(address);
  }

  Item item_;
};

}  // namespace detrec::fuzz
