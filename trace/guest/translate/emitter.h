// Writes machine code into the code cache. Knows encodings, nothing about translation.
#pragma once

#include "trace/guest/base/string.h"
#include "trace/guest/translate/context.h"
#include "trace/guest/translate/target_check.h"

namespace detrec::guest::translate {

/// Condition codes as in the opcode's low four bits.
inline constexpr u8 kCcZero = 4;

class Emitter {
 public:
  explicit Emitter(CacheAddr at) : at_(reinterpret_cast<u8*>(raw(at))) {}
  explicit Emitter(u8* at) : at_(at) {}

  CacheAddr here() const { return static_cast<CacheAddr>(reinterpret_cast<u64>(at_)); }

  void byte(u8 b) { *at_++ = b; }
  void bytes(const u8* p, u64 n) {
    for (u64 i = 0; i < n; ++i) *at_++ = p[i];
  }
  void imm32(u32 v) {
    __builtin_memcpy(at_, &v, 4);
    at_ += 4;
  }
  void imm64(u64 v) {
    __builtin_memcpy(at_, &v, 8);
    at_ += 8;
  }
  /// Copies a whole instruction. Always moves 16 bytes: the reader's window and the cache have room for that.
  void instruction(const u8* p, u64 n) {
    __builtin_memcpy(at_, p, 16);
    at_ += n;
  }

  /// The 32-bit displacement from the end of an instruction (`trailing` bytes after the field) to `address`.
  void rel32(u64 address, u32 trailing = 0) {
    imm32(static_cast<u32>(address - (reinterpret_cast<u64>(at_) + 4 + trailing)));
  }

  /// mov [context + field], r64 / mov r64, [context + field]; the 32-bit forms zero-extend.
  void store_context(Reg r, u64 field) { context_op(0x89, r, field, true); }
  void load_context(Reg r, u64 field) { context_op(0x8b, r, field, true); }
  void store_context32(Reg r, u64 field) { context_op(0x89, r, field, false); }
  void load_context32(Reg r, u64 field) { context_op(0x8b, r, field, false); }

  /// mov dword [context + field], value
  void set_context32(u64 field, u32 value) {
    byte(0xc7);
    absolute(0, field);
    imm32(value);
  }
  /// dec dword [context + field]: leaves CF alone
  void dec_context32(u64 field) {
    byte(0xff);
    absolute(1, field);
  }

  /// mov r64, imm64
  void load_imm64(Reg r, u64 value) {
    byte(r >= 8 ? 0x49 : 0x48), byte(static_cast<u8>(0xb8 | (r & 7)));
    imm64(value);
  }

  /// jmp rel32; returns the address of the displacement field.
  CacheAddr jmp(u64 to) {
    byte(0xe9);
    CacheAddr field = here();
    rel32(to);
    return field;
  }
  CacheAddr jcc(u8 cc, u64 to) {
    byte(0x0f), byte(static_cast<u8>(0x80 | cc));
    CacheAddr field = here();
    rel32(to);
    return field;
  }
  CacheAddr call(u64 to) {
    byte(0xe8);
    CacheAddr field = here();
    rel32(to);
    return field;
  }
  /// An 8-bit forward branch (jcc, jrcxz, jmp short): returns the field for bind_short.
  CacheAddr short_branch(u8 opcode) {
    byte(opcode);
    CacheAddr field = here();
    byte(0);
    return field;
  }
  void bind_short(CacheAddr field) {
    *reinterpret_cast<u8*>(raw(field)) = static_cast<u8>(raw(here()) - raw(field) - 1);
  }
  /// Goes to a far address when rcx is zero; returns the field for patch_rel32. jrcxz reaches only a few
  /// bytes, and a jump around the way out would be taken all the other times. So the way out is the operand
  /// of a nop.
  CacheAddr jrcxz_far() {
    byte(0xe3), byte(3);
    byte(0x0f), byte(0x1f), byte(0x84);  // nop [SIB + disp32]: the SIB byte and displacement are the jump
    return jmp(0);
  }

  /// The two halves of an indirect transfer's look-up (target_check.h). rcx is the target's upper half, then
  /// all of it.
  void check_upper_half() {
    byte(0x0f), byte(0xb6), byte(0x0c), byte(0xcd);  // movzx ecx, byte [rcx*8 + disp32]
    imm32(static_cast<u32>(kCheckByte));
  }
  void look_up_landing(Reg target = kRcx) {  // mov ecx, [target*4 + disp32]
    if (target >= 8) byte(0x42);
    byte(0x8b), byte(0x0c), byte(static_cast<u8>(0x85 | (target & 7) << 3));
    imm32(static_cast<u32>(kTableBase));
  }

  /// Points a 32-bit displacement field at `to`. Aligned or not, it is one store: other threads do not run
  /// meanwhile.
  static void patch_rel32(CacheAddr field, u64 to) {
    u32 v = static_cast<u32>(to - (raw(field) + 4));
    __builtin_memcpy(reinterpret_cast<void*>(raw(field)), &v, 4);
  }

 private:
  void context_op(u8 opcode, Reg r, u64 field, bool wide) {
    u8 rex = static_cast<u8>((wide ? 0x48 : 0x40) | (r >= 8 ? 4 : 0));
    if (rex != 0x40) byte(rex);
    byte(opcode);
    absolute(r & 7, field);
  }

  /// ModRM, SIB and displacement of [context + field] as an absolute address. One byte longer than the
  /// rip-relative form, but the same displacement everywhere: processors that rename memory (measured: `dec`
  /// 0.36 ns against 2.6 ns) recognise it.
  void absolute(u8 reg, u64 field) {
    byte(static_cast<u8>(0x04 | (reg << 3)));
    byte(0x25);
    imm32(static_cast<u32>(kContextAddress + field));
  }

  u8* at_;
};

}  // namespace detrec::guest::translate
