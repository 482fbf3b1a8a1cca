#include "tests/fuzz/translator/program.h"

#include <cstring>

#include "tests/fuzz/translator/areas.h"

namespace detrec::fuzz {
namespace {

using guest::DecodeStatus;
using guest::Insn;

bool is_loop(const Jump& jump) { return jump.opcode >= 0xe0 && jump.opcode <= 0xe3; }

std::size_t jump_size(const Jump& jump, bool near) {
  if (!jump.present) return 0;
  if (!near) return jump.prefixes.size() + 2;
  // A loop has no near form: it goes over a jump to one.
  if (is_loop(jump)) return jump.prefixes.size() + 2 + 2 + 5;
  return jump.prefixes.size() + (jump.opcode == 0xeb ? 5 : 6);
}

class Placer {
 public:
  Placer(const Program& program, u64 base) : program_(program), base_(base) {}

  Layout run() {
    const std::size_t n = program_.items.size();
    near_.resize(n);
    for (std::size_t i = 0; i < n; ++i)
      near_[i] = program_.items[i].jump.near && !is_loop(program_.items[i].jump);
    do place();
    while (widen());
    for (std::size_t i = 0; i < n; ++i)
      if (!program_.items[i].dropped) emit(i);
    // Once more: jumps into the middle of an instruction can be judged now.
    judge_middles_ = true;
    for (std::size_t i = 0; i < n; ++i)
      if (!program_.items[i].dropped) emit(i);
    layout_.entry = layout_.item_address[static_cast<std::size_t>(program_.entry)];
    return layout_;
  }

 private:
  void place() {
    layout_.item_address.assign(1, base_);
    for (std::size_t i = 0; i < program_.items.size(); ++i) {
      const Item& item = program_.items[i];
      const std::size_t size =
          item.dropped ? 0 : item.bytes.size() + jump_size(item.jump, near_[i]) + item.tail.size();
      layout_.item_address.push_back(layout_.item_address.back() + size);
    }
    layout_.code.assign(layout_.item_address.back() - base_, 0x90);
  }

  /// Makes short jumps near that do not reach. True if there was one.
  bool widen() {
    bool changed = false;
    for (std::size_t i = 0; i < program_.items.size(); ++i) {
      const Item& item = program_.items[i];
      if (!item.jump.present || item.dropped || near_[i]) continue;
      const u64 next = layout_.item_address[i] + item.bytes.size() + jump_size(item.jump, false);
      const i64 lowest = static_cast<i64>(start(item.jump.target) - next);
      const i64 highest = lowest + item.jump.target.offset;
      if (lowest >= -128 && highest <= 127) continue;
      near_[i] = true;
      changed = true;
    }
    return changed;
  }

  u64 start(const Label& label) const { return layout_.item_address[static_cast<std::size_t>(label.item)]; }

  bool is_dropped(const Label& label) const {
    return program_.items[static_cast<std::size_t>(label.item)].dropped;
  }

  u64 resolve(const Label& label) const {
    const u64 at = start(label);
    if (label.offset == 0 || is_dropped(label)) return at;
    return judge_middles_ && harmless_from(at + label.offset) ? at + label.offset : at;
  }

  /// Whether the instructions from `at` on are harmless until they fall into step with an item.
  bool harmless_from(u64 at) const {
    const u64 end = base_ + layout_.code.size();
    constexpr int kMost = 8;
    for (int i = 0; i < kMost && at < end; ++i) {
      Insn insn;
      if (guest::decode(&layout_.code[at - base_], end - at, insn) != DecodeStatus::kOk) return false;
      if (!is_harmless(insn) || (insn.gpr_written >> guest::kRsp & 1) != 0) return false;
      at += insn.length;
      for (const u64 address : layout_.item_address)
        if (address == at) return true;
    }
    return false;
  }

  template <class T>
  void put(u64 address, T value) {
    std::memcpy(&layout_.code[address - base_], &value, sizeof value);
  }

  void emit(std::size_t i) {
    const Item& item = program_.items[i];
    const u64 at = layout_.item_address[i];
    u64 next = at;
    for (const u8 b : item.bytes) put(next++, b);
    for (const Fixup& f : item.fixups) apply(f, at + f.at, static_cast<int>(i));
    if (item.jump.present) next = emit_jump(item.jump, near_[i], next);
    for (const u8 b : item.tail) put(next++, b);
    for (const Slot& slot : item.slots) {
      const u64 entry[2] = {resolve(slot.label), 0x33};  // the selector of user code, for far jumps
      std::memcpy(reinterpret_cast<void*>(slot.address), entry, sizeof entry);
    }
  }

  void apply(const Fixup& f, u64 field, int item) {
    const u64 next = field + 4u + f.trailing;
    switch (f.kind) {
      case FixupKind::kRel32:
        put(field, static_cast<u32>(resolve(f.label) - next));
        break;
      case FixupKind::kAbs32:
        put(field, static_cast<u32>(resolve(f.label)));
        break;
      case FixupKind::kAbs64:
        put(field, resolve(f.label));
        break;
      case FixupKind::kRipAddress:
        put(field, static_cast<u32>(f.address - next));
        break;
      case FixupKind::kLabelByte:
        put(field,
            static_cast<u32>((is_dropped(f.label) ? f.address : start(f.label) + f.label.offset) - next));
        break;
      case FixupKind::kEnd8:
        put(field, static_cast<u8>(layout_.end_of(item) - (field + 1)));
        break;
    }
  }

  u64 emit_jump(const Jump& jump, bool near, u64 at) {
    for (const u8 b : jump.prefixes) put(at++, b);
    const u64 target = resolve(jump.target);
    if (!near) {
      put(at, jump.opcode);
      put(at + 1, static_cast<u8>(target - (at + 2)));
      return at + 2;
    }
    if (is_loop(jump)) {
      put(at, jump.opcode);
      put(at + 1, u8{2});
      put(at + 2, u8{0xeb});
      put(at + 3, u8{5});
      at += 4;
    }
    if (is_loop(jump) || jump.opcode == 0xeb) {
      put(at++, u8{0xe9});
    } else {
      put(at++, u8{0x0f});
      put(at++, static_cast<u8>(jump.opcode + 0x10));
    }
    put(at, static_cast<u32>(target - (at + 4)));
    return at + 4;
  }

  const Program& program_;
  u64 base_;
  Layout layout_;
  std::vector<bool> near_;
  bool judge_middles_ = false;
};

}  // namespace

Layout lay_out(const Program& program, u64 base) { return Placer(program, base).run(); }

}  // namespace detrec::fuzz
