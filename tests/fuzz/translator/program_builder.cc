#include "tests/fuzz/translator/program_builder.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "tests/fuzz/translator/item_writer.h"

namespace detrec::fuzz {
namespace {

using guest::kRax;
using guest::kRcx;
using guest::kRdi;
using guest::kRsi;
using guest::kRsp;

/// Stands for a label until all items are known.
enum class Aim : u8 { kNone, kForward, kBackward, kFunction };

struct Aimed {
  int item;
  Aim aim;
  int function;  ///< kFunction: which one
};

struct Function {
  int rank;  ///< functions call those of a higher rank only, so that there is no recursion without an end
  int first_item = 0;
  bool skips = false;  ///< returns so many bytes behind its return address
};
constexpr u8 kSkipped = 3;

class Builder {
 public:
  Builder(Random& random, const Roles& roles, bool writable)
      : random_(random), roles_(roles), writable_(writable) {}

  Program run() {
    const int before = static_cast<int>(random_.below(3));
    const int count = before + static_cast<int>(random_.below(4));
    std::vector<int> ranks(static_cast<std::size_t>(count));
    std::iota(ranks.begin(), ranks.end(), 0);
    for (std::size_t i = ranks.size(); i > 1; --i) std::swap(ranks[i - 1], ranks[random_.below(i)]);
    for (const int rank : ranks) functions_.push_back({rank, 0, random_.chance(12)});
    for (int f = 0; f < before; ++f) add_function(f);
    add_main();
    for (int f = before; f < count; ++f) add_function(f);
    aim_all();
    return std::move(program_);
  }

 private:
  // ---- Sections

  void add_main() {
    section_ = kMain;
    program_.entry = static_cast<int>(program_.items.size());
    add_body(random_.between(3, random_.chance(15) ? 70 : 30));
    ItemWriter w("exit");
    const unsigned kind = random_.below(10);
    if (kind < 7) {
      w.put({0xff, 0x24, 0x25}), w.put32(kExit);  // jmp [exit]
    } else if (kind < 9) {
      w.put({0xff, 0x34, 0x25}), w.put32(kExit), w.put({0xc3});  // push [exit]; ret
    } else {
      w.put({0xff, 0x14, 0x25}), w.put32(kExit);  // call [exit]
    }
    add(w);
  }

  void add_function(int index) {
    Function& function = functions_[static_cast<std::size_t>(index)];
    section_ = index;
    rank_ = function.rank;
    function.first_item = static_cast<int>(program_.items.size());
    if (function.skips) {
      ItemWriter w("skip");
      w.put({0x48, 0x83, 0x04, 0x24, kSkipped, 0xc3});  // add qword [rsp], n; ret
      add(w);
      return;
    }
    const u64 frame = kFrames + 8 * static_cast<u64>(index);
    const bool framed = random_.chance(80);
    if (framed) {
      ItemWriter w("frame");
      w.store(kRsp, frame);
      add(w);
    }
    add_body(random_.between(1, 9));
    if (framed) {
      ItemWriter w("unframe");
      w.load(kRsp, frame);
      add(w);
    }
    add_return();
  }

  void add_return() {
    ItemWriter w("return");
    burn_fuel(w, kReturnFuel);  // a wrong return address may lead backwards
    const unsigned kind = random_.below(100);
    const u8 reg = scratch();
    if (kind < 55) {
      w.put({0xc3});
    } else if (kind < 63) {
      w.put({random_.pick({0xf2, 0xf3, 0x66, 0x48, 0x2e}), 0xc3});
    } else if (kind < 75) {
      w.put({0xc2, 8 * random_.below(6), 0});
    } else if (kind < 80) {
      w.pop(reg), w.push(reg), w.put({0xc3});
    } else if (kind < 86) {
      w.pop(reg), jump_register(w, reg, 4);
    } else if (kind < 90) {
      w.move_stack(8), w.put({0xff, 0x64, 0x24, 0xf8});  // jmp [rsp-8]
    } else if (kind < 93) {
      w.put({0xff, 0x34, 0x24, 0xc3});  // push [rsp]; ret: the address stays
    } else if (kind < 96) {
      w.move_stack(8), w.put({0xc3});  // to the caller's caller
    } else {
      // lretq to where a near return would go
      w.pop(reg), w.put({0x6a, 0x33}), w.push(reg), w.put({0x48, 0xcb});
    }
    add(w);
  }

  void add_body(unsigned length) {
    for (unsigned i = 0; i < length; ++i) {
      const unsigned kind = random_.below(1000);
      if (kind < 520) {
        add_plain();
      } else if (kind < 680) {
        add_flag_reader();
      } else if (kind < 760) {
        add_forward();
      } else if (kind < 800) {
        add_backward();
      } else if (kind < 835 && region_ == 0) {
        add_loop();
      } else if (kind < 870) {
        add_indirect_jump();
      } else if (kind < 935) {
        add_call();
      } else if (kind < 945) {
        add_call_next();
      } else if (kind < 960) {
        add_string();
      } else if (kind < 970) {
        add_popf();
      } else if (kind < 977) {
        add_hidden();
      } else if (kind < 983) {
        add_frame();
      } else if (kind < 992) {
        add_patch();
      } else {
        add_far_transfer();
      }
    }
  }

  // ---- Straight-line items

  void add_plain() {
    ItemWriter w("");
    w.insn(draw_insn(random_, roles_, keep_));
    w.item().plain = true;
    add(w);
  }

  void add_flag_reader() {
    ItemWriter w("");
    w.insn(draw_flag_reader(random_, roles_, keep_));
    w.item().plain = true;
    add(w);
  }

  void add_string() {
    const auto set = [this](u8 reg, u64 value) {
      if ((keep_ >> reg & 1) != 0) return;
      ItemWriter w("");
      w.set(reg, value);
      w.item().plain = true;
      add(w);
    };
    set(kRcx, random_.chance(90) ? random_.below(40) : random_.below(3000));
    set(kRsi, data_address(random_, roles_.low_data, 64));
    set(kRdi, data_address(random_, roles_.low_data, 64));
    ItemWriter w("string");
    if (random_.chance(20)) w.put({0xfc | random_.below(2)});  // cld, std
    if (random_.chance(75)) w.put({0xf2 | random_.below(2)});
    if (random_.chance(20)) w.put({0x66});
    if (random_.chance(roles_.low_data ? 10 : 1)) w.put({0x67});
    if (random_.chance(20)) w.put({0x48});
    w.put({random_.pick({0xa4, 0xa5, 0xa6, 0xa7, 0xaa, 0xab, 0xac, 0xad, 0xae, 0xaf})});
    add(w);
  }

  void add_popf() {
    ItemWriter w("popf");
    u64 flags = random_.next() & kStatus;
    if (random_.chance(25)) flags |= kDirection;
    if (roles_.exotic && random_.chance(20)) flags |= random_.pick({0x200000, 0x4000});  // ID, NT
    if (random_.chance(15)) {
      w.put({0x66, 0x68, static_cast<unsigned>(flags & 0xff), static_cast<unsigned>(flags >> 8 & 0xff), 0x66,
             0x9d});
    } else {
      w.put({0x68}), w.put32(flags | 0x200), w.put({0x9d});
    }
    add(w);
  }

  /// An immediate that is code: jumps into the middle of an instruction find something there.
  void add_hidden() {
    ItemWriter w("hidden");
    const u8 reg = scratch();
    w.put({0x48u | (reg >= 8), 0xb8u | (reg & 7)});
    static constexpr u8 kShort[] = {0x90, 0xf5, 0xf8, 0xf9, 0x98, 0x99, 0x9e, 0x9f, 0x50, 0x53, 0x9c, 0x91};
    for (int i = 0; i < 8; ++i) w.put({random_.pick(kShort)});
    w.item().plain = true;
    add(w);
    if (random_.chance(60)) hidden_.push_back(static_cast<int>(program_.items.size()) - 1);
  }

  void add_frame() {
    ItemWriter w("enter");
    w.put({0xc8, 8 * random_.below(8), 0, random_.below(4)});
    if (random_.chance(70)) {
      w.insn(draw_flag_reader(random_, roles_, keep_ | 1u << guest::kRbp));
      w.put({0xc9});
    }
    add(w);
  }

  /// A store into the immediate of an instruction that is executed before, after, or both.
  void add_patch() {
    const auto victim = [this] {
      ItemWriter w("victim");
      const u8 reg = scratch();
      if (reg >= 8) w.put({0x41});
      w.put({0x81, 0xc0u | random_.below(8) << 3 | (reg & 7)});
      w.put32(random_.next());
      add(w);
      return static_cast<int>(program_.items.size()) - 1;
    };
    if (!writable_ && !random_.chance(15)) return add_plain();
    const bool before = random_.chance(50);
    int target = before ? victim() : static_cast<int>(program_.items.size()) + 1;
    ItemWriter w("patch");
    w.put({0xc6, 0x05});  // mov byte [rip+label], imm8
    w.fixup(FixupKind::kLabelByte, 4, {target, static_cast<u8>(4 + random_.below(2))}, data_near(), 1);
    w.put({random_.byte()});
    add(w);
    if (!before) victim();
  }

  // ---- Direct transfers

  void add_forward() {
    ItemWriter w("forward");
    const unsigned kind = random_.below(10);
    u8 opcode = kind < 7 ? condition() : kind < 9 ? u8{0xeb} : static_cast<u8>(0xe0 + random_.below(4));
    if (opcode < 0xe3 && opcode >= 0xe0 && (keep_ >> kRcx & 1) != 0) opcode = 0xe3;
    w.jump(opcode, {}, random_.chance(30), jump_prefixes());
    add(w, Aim::kForward);
  }

  void add_backward() {
    ItemWriter w("backward");
    burn_fuel(w);
    const unsigned kind = random_.below(10);
    const u8 opcode = kind < 6 ? condition() : kind < 8 ? u8{0xeb} : static_cast<u8>(0xe0 + random_.below(4));
    w.jump(opcode, {}, random_.chance(30), jump_prefixes());
    add(w, Aim::kBackward);
  }

  /// A counted loop, whose back edge is its last instruction.
  void add_loop() {
    const u16 kept = keep_;
    const bool by_rcx = random_.chance(35) && (keep_ >> kRcx & 1) == 0;
    const u8 counter = by_rcx ? u8{kRcx} : roles_.loop;
    const unsigned rounds = random_.chance(90) ? random_.between(1, 6) : random_.between(7, 60);
    ItemWriter start("loop start");
    start.set(counter, rounds);
    add(start);
    region_ = ++regions_;
    keep_ |= static_cast<u16>(1u << counter);
    const int head = static_cast<int>(program_.items.size());
    const unsigned length = random_.pick({0, 1, 1, 2, 2, 3, 4, 6, 9, 14});
    bool calls = false;
    for (unsigned i = 0; i < length; ++i) {
      const unsigned kind = random_.below(100);
      if (kind < 55) add_plain();
      if (kind >= 55 && kind < 80) add_flag_reader();
      if (kind >= 80 && kind < 92) add_forward();
      if (kind >= 92 && !by_rcx) add_call(), calls = true;
    }
    ItemWriter end("loop end");
    if (calls) burn_fuel(end);  // who is called may count with the same register
    const Label back{head, 0};
    const unsigned wide = 0x48u | (counter >= 8 ? 5 : 0);
    if (by_rcx) {
      const unsigned kind = random_.below(4);
      end.jump(static_cast<u8>(kind == 0 ? 0xe0 : kind == 1 ? 0xe1 : 0xe2), back, false);
    } else {
      switch (random_.below(4)) {
        case 0:
          end.put({wide, 0xff, 0xc8u | (counter & 7)});  // dec
          break;
        case 1:
          end.put({wide, 0x83, 0xe8u | (counter & 7), 1});  // sub
          break;
        case 2:  // lea r, [r-1]; test r, r
          end.put({wide, 0x8d, 0x40u | (counter & 7) << 3 | (counter & 7)});
          if ((counter & 7) == 4) end.put({0x24});
          end.put({0xff, wide, 0x85, 0xc0u | (counter & 7) << 3 | (counter & 7)});
          break;
        default:
          end.put({wide, 0x83, 0xc0u | (counter & 7), 0xff});  // add -1
          break;
      }
      end.jump(0x7f, back, random_.chance(20));  // jg: ends at once when the counter is not what it should be
    }
    if (head == static_cast<int>(program_.items.size()) && by_rcx) end.item().what = "self loop";
    add(end);
    region_ = 0;
    keep_ = kept;
  }

  // ---- Indirect transfers

  /// Loads the address of the item's label.
  void load_label(ItemWriter& w, u8 reg) {
    const unsigned kind = random_.below(3);
    if (kind == 0 && roles_.low_code) {
      if (reg >= 8) w.put({0x41});
      w.put({0xb8u | (reg & 7)});
      w.fixup(FixupKind::kAbs32, 4, {});
    } else if (kind == 1) {
      w.put({0x48u | (reg >= 8), 0xb8u | (reg & 7)});
      w.fixup(FixupKind::kAbs64, 8, {});
    } else {
      w.put({0x48u | (reg >= 8 ? 4 : 0), 0x8d, 0x05u | (reg & 7) << 3});
      w.fixup(FixupKind::kRel32, 4, {});
    }
  }

  /// ff /2 or /4 of a register
  void jump_register(ItemWriter& w, u8 reg, unsigned extension) {
    if (random_.chance(20)) w.put({random_.pick({0x3e, 0xf2, 0x2e, 0x66})});
    if (reg >= 8) {
      w.put({0x41});
    } else if (random_.chance(15)) {
      w.put({random_.pick({0x40, 0x48, 0x44})});
    }
    w.put({0xff, 0xc0u | extension << 3 | (reg & 7)});
  }

  u64 take_slot(ItemWriter& w, bool low) {
    const u64 address = (low ? kLowTable : kHighTable) + kSlotSize * (next_slot_++ % kSlots);
    w.item().slots.push_back({address, {}});
    return address;
  }

  /// An indirect jump (extension 4) or call (2) to the item's label.
  void transfer(ItemWriter& w, unsigned extension) {
    const u8 reg = scratch();
    const unsigned x = extension << 3;
    switch (random_.below(9)) {
      case 0:
      case 1:
        load_label(w, reg);
        jump_register(w, reg, extension);
        break;
      case 2: {
        const u64 slot = take_slot(w, roles_.low_code);
        if (random_.chance(15)) w.put({random_.pick({0x3e, 0x2e, 0x48, 0xf2})});
        w.put({0xff, 0x05 | x});
        w.fixup(FixupKind::kRipAddress, 4, {}, slot);
        break;
      }
      case 3: {
        const u64 slot = take_slot(w, true);
        w.put({0xff, 0x04 | x, 0x25}), w.put32(slot);
        break;
      }
      case 4: {  // [reg + disp8]
        const u64 slot = take_slot(w, random_.chance(50));
        const i64 disp = static_cast<i64>(random_.below(200)) - 100;
        w.set(reg, slot - static_cast<u64>(disp));
        if (reg >= 8) w.put({0x41});
        w.put({0xff, 0x40 | x | (reg & 7)});
        if ((reg & 7) == 4) w.put({0x24});
        w.put({static_cast<u8>(disp)});
        break;
      }
      case 5: {  // [base + index*8 + disp32]
        const u64 slot = take_slot(w, random_.chance(50));
        const u8 index = roles_.index;
        if (index == kRsp || reg == index) return transfer(w, extension);
        const u32 count = random_.below(16), disp = 0x1234;
        w.set(index, count);
        w.set(reg, slot - 8 * count - disp);
        const unsigned rex = (reg >= 8 ? 1 : 0) | (index >= 8 ? 2 : 0);
        if (rex != 0) w.put({0x40 | rex});
        w.put({0xff, 0x84 | x, 0xc0u | (index & 7) << 3 | (reg & 7)}), w.put32(disp);
        break;
      }
      case 6: {  // on the stack
        load_label(w, reg);
        w.push(reg);
        const bool deeper = random_.chance(40);
        if (deeper) w.push(kRax);
        w.put({0xff, 0x44 | x, 0x24, deeper ? 8u : 0u});
        break;
      }
      case 7: {  // a 32-bit address
        const u64 slot = take_slot(w, true);
        w.set(reg, (slot - 0x40) | (random_.chance(50) ? 0xabcd'0000'0000ull << 8 : 0));
        w.put({0x67});
        if (reg >= 8) w.put({0x41});
        w.put({0xff, 0x40 | x | (reg & 7)});
        if ((reg & 7) == 4) w.put({0x24});
        w.put({0x40});
        break;
      }
      default: {  // rip-relative with a 32-bit address
        const u64 slot = take_slot(w, true);
        w.put({0x67, 0xff, 0x05 | x});
        w.fixup(FixupKind::kRipAddress, 4, {}, slot);
        break;
      }
    }
  }

  void add_indirect_jump() {
    const bool back = random_.chance(25);
    ItemWriter w(back ? "indirect backward" : "indirect forward");
    if (back) burn_fuel(w);
    if (random_.chance(25)) {  // push and return
      if (roles_.low_code && random_.chance(50)) {
        w.put({0x68});
        w.fixup(FixupKind::kAbs32, 4, {});
      } else {
        const u8 reg = scratch();
        load_label(w, reg);
        w.push(reg);
      }
      if (random_.chance(70)) {
        w.put({0xc3});
      } else {
        w.put({0xc2, 8 * random_.below(4), 0});
      }
    } else {
      transfer(w, 4);
    }
    add(w, back ? Aim::kBackward : Aim::kForward);
  }

  void add_call() {
    std::vector<int> callable;
    for (std::size_t f = 0; f < functions_.size(); ++f)
      if (section_ == kMain || functions_[f].rank > rank_) callable.push_back(static_cast<int>(f));
    const bool local = callable.empty() || random_.chance(15);
    const int function = local ? 0 : random_.pick(callable);
    ItemWriter w(local ? "local call" : "call");
    if (random_.chance(55)) {
      if (random_.chance(15)) w.put({random_.pick({0x66, 0x2e, 0x3e, 0xf2, 0xf3, 0x48, 0x40})});
      w.put({0xe8});
      w.fixup(FixupKind::kRel32, 4, {});
    } else {
      transfer(w, 2);
    }
    if (!local && functions_[static_cast<std::size_t>(function)].skips) {
      w.put({0x0f, 0x1f, random_.pick({0x00, 0x03, 0xc0})});  // what is skipped
      static_assert(kSkipped == 3);
    }
    add(w, local ? Aim::kForward : Aim::kFunction, function);
  }

  void add_call_next() {
    ItemWriter w("call next");
    w.put({0xe8}), w.put32(0);
    if (random_.chance(80)) w.pop(scratch());
    add(w);
  }

  void add_far_transfer() {
    ItemWriter w("far transfer");
    const u8 reg = scratch();
    switch (random_.below(4)) {
      case 0:                                                  // iretq
        w.put({0x48u | (reg >= 8), 0x89, 0xe0u | (reg & 7)});  // mov reg, rsp
        w.put({0x6a, 0x2b});
        w.push(reg);
        w.put({0x9c, 0x6a, 0x33});
        load_label(w, reg);
        w.push(reg);
        w.put({0x48, 0xcf});
        break;
      case 1:  // lretq
        w.put({0x6a, 0x33});
        load_label(w, reg);
        w.push(reg);
        w.put({0x48, 0xcb});
        break;
      case 2: {  // jmp far
        const u64 slot = take_slot(w, true);
        w.put({0x48, 0xff, 0x2c, 0x25}), w.put32(slot);
        break;
      }
      default: {  // call far
        const u64 slot = take_slot(w, roles_.low_code);
        w.put({0x48, 0xff, 0x1d});
        w.fixup(FixupKind::kRipAddress, 4, {}, slot);
        break;
      }
    }
    add(w, Aim::kForward);
  }

  // ---- Parts

  u8 condition() { return static_cast<u8>(0x70 + random_.below(16)); }

  std::vector<u8> jump_prefixes() {
    if (random_.chance(88)) return {};
    static constexpr u8 kPrefixes[] = {0x2e, 0x3e, 0xf2, 0x26, 0x40, 0x48, 0x66};
    return {random_.pick(kPrefixes)};
  }

  /// A register that may be overwritten. Not rdi, which would hold addresses of code: a string store that
  /// overwrites itself ends early on the processor, but not under the engine.
  u8 scratch() {
    for (;;) {
      const u8 reg = static_cast<u8>(random_.below(16));
      if (reg != kRsp && reg != kRdi && (keep_ >> reg & 1) == 0) return reg;
    }
  }

  u64 data_near() { return roles_.low_code ? kLowData[0] : kHighData[0]; }

  /// Goes to the end of the item when the fuel is used up; without touching a flag, or else quickly.
  void burn_fuel(ItemWriter& w, u64 fuel = kFuel) {
    if (random_.chance(50)) {
      w.put({0x83, 0x2c, 0x25}), w.put32(fuel), w.put({1});        // sub dword [fuel], 1
      w.put({0x73, 10});                                           // jnc over what follows
      w.put({0x83, 0x14, 0x25}), w.put32(fuel), w.put({0, 0xeb});  // adc dword [fuel], 0; jmp
      w.fixup(FixupKind::kEnd8, 1, {});
      return;
    }
    w.store(kRcx, kSaved);
    w.load(kRcx, fuel);
    w.put({0xe3, 22});                // jrcxz out
    w.put({0x48, 0x8d, 0x49, 0xff});  // lea rcx, [rcx-1]
    w.store(kRcx, fuel);
    w.load(kRcx, kSaved);
    w.put({0xeb, 10});     // over what follows
    w.load(kRcx, kSaved);  // out:
    w.put({0xeb});
    w.fixup(FixupKind::kEnd8, 1, {});
  }

  void add(ItemWriter& w, Aim aim = Aim::kNone, int function = 0) {
    Item& item = w.item();
    item.section = section_;
    item.region = region_;
    if (aim != Aim::kNone) aimed_.push_back({static_cast<int>(program_.items.size()), aim, function});
    program_.items.push_back(std::move(item));
  }

  // ---- Targets

  void aim_all() {
    for (const Aimed& aimed : aimed_) {
      const Label label = choose(aimed);
      Item& item = program_.items[static_cast<std::size_t>(aimed.item)];
      if (item.jump.present) item.jump.target = label;
      for (Fixup& f : item.fixups)
        if (f.label.item < 0) f.label = label;
      for (Slot& slot : item.slots) slot.label = label;
    }
  }

  Label choose(const Aimed& aimed) {
    if (aimed.aim == Aim::kFunction)
      return {functions_[static_cast<std::size_t>(aimed.function)].first_item, 0};
    const Item& from = program_.items[static_cast<std::size_t>(aimed.item)];
    std::vector<int> choices;
    const int n = static_cast<int>(program_.items.size());
    for (int i = 0; i < n; ++i) {
      const Item& to = program_.items[static_cast<std::size_t>(i)];
      const bool direction = aimed.aim == Aim::kForward ? i > aimed.item : i <= aimed.item;
      const bool enters = to.region != 0 && to.region != from.region;
      if (direction && to.section == from.section && !enters) choices.push_back(i);
    }
    // The last item of a section is in no region and never aims forward; a loop's end does not come here.
    if (choices.empty()) return {aimed.aim == Aim::kForward ? n - 1 : aimed.item, 0};
    // Near ones more often than far ones.
    const unsigned reach = random_.pick({3, 6, 12, 100});
    const std::size_t size = choices.size(), some = std::min<std::size_t>(reach, size);
    const std::size_t chosen =
        aimed.aim == Aim::kForward ? random_.below(some) : size - 1 - random_.below(some);
    const int item = choices[chosen];
    const Item& to = program_.items[static_cast<std::size_t>(item)];
    const bool is_hidden = std::find(hidden_.begin(), hidden_.end(), item) != hidden_.end();
    if (to.plain && random_.chance(is_hidden ? 70 : 5))
      return {item, static_cast<u8>(random_.below(to.bytes.size()))};
    return {item, 0};
  }

  static constexpr int kMain = -1;
  static constexpr u64 kStatus = 0x8d5, kDirection = 0x400;

  Random& random_;
  const Roles& roles_;
  bool writable_;
  Program program_;
  std::vector<Function> functions_;
  std::vector<Aimed> aimed_;
  std::vector<int> hidden_;
  int section_ = kMain;
  int rank_ = 0;
  int region_ = 0;
  int regions_ = 0;
  u16 keep_ = roles_.protected_mask();
  unsigned next_slot_ = 0;
};

}  // namespace

Program build_program(Random& random, const Roles& roles, bool writable) {
  return Builder(random, roles, writable).run();
}

}  // namespace detrec::fuzz
