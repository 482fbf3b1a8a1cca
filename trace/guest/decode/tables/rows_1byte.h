// Rows of the one-byte opcode map (Intel SDM 2D table A-2), x87 included.
#pragma once

#include "trace/guest/decode/tables/row.h"

namespace detrec::guest::tables {

template <int N>
constexpr void add_alu_rows(RowList<N>& t) {
  constexpr Fx kFx[8] = {Fx::kAdd,   Fx::kLogic, Fx::kAdc,   Fx::kAdc,
                         Fx::kLogic, Fx::kAdd,   Fx::kLogic, Fx::kAdd};
  for (unsigned i = 0; i < 8; ++i) {  // add or adc sbb and sub xor cmp
    const unsigned o = i * 8;
    const bool cmp = i == 7;
    const Access dst = cmp ? kR : kRw;
    const std::uint32_t lock = cmp ? 0 : kALock;
    const Im acc = cmp ? Im::kAccR : Im::kAccRw;
    t.add(op(o + 0).E(kB, dst).G(kB, kR).flags(kFx[i]).byte().with(lock));
    t.add(op(o + 1).E(kV, dst).G(kV, kR).flags(kFx[i]).with(lock));
    t.add(op(o + 2).E(kB, kR).G(kB, dst).flags(kFx[i]).byte());
    t.add(op(o + 3).E(kV, kR).G(kV, dst).flags(kFx[i]));
    t.add(op(o + 4).implicit(acc).flags(kFx[i]).ib().byte());
    t.add(op(o + 5).implicit(acc).flags(kFx[i]).imm(Imm::kIz));
    t.add(op(0x80).ext(i).E(kB, dst).flags(kFx[i]).ib().byte().with(lock));
    t.add(op(0x81).ext(i).E(kV, dst).flags(kFx[i]).imm(Imm::kIz).with(lock));
    t.add(op(0x83).ext(i).E(kV, dst).flags(kFx[i]).ib().with(lock));
  }
}

template <int N>
constexpr void add_shift_rows(RowList<N>& t) {
  for (unsigned i = 0; i < 8; ++i) {  // rol ror rcl rcr shl shr sal sar
    const Fx fx = i < 2 ? Fx::kRotate : i < 4 ? Fx::kRotateCarry : Fx::kShift;
    t.add(op(0xc0).ext(i).E(kB, kRw).flags(fx).imm(Imm::kIbU).byte().with(kAShift));
    t.add(op(0xc1).ext(i).E(kV, kRw).flags(fx).imm(Imm::kIbU).with(kAShift));
    t.add(op(0xd0).ext(i).E(kB, kRw).flags(fx).byte().with(kAShift1));
    t.add(op(0xd1).ext(i).E(kV, kRw).flags(fx).with(kAShift1));
    t.add(op(0xd2).ext(i).E(kB, kRw).flags(fx).byte().implicit(Im::kCxR));
    t.add(op(0xd3).ext(i).E(kV, kRw).flags(fx).implicit(Im::kCxR));
  }
}

template <int N>
constexpr void add_string_rows(RowList<N>& t) {
  t.add(op(0x6c).implicit(Im::kIns).flags(Fx::kString).byte().special(Special::kPrivileged));
  t.add(op(0x6d).implicit(Im::kIns).flags(Fx::kString).special(Special::kPrivileged));
  t.add(op(0x6e).implicit(Im::kOuts).flags(Fx::kString).byte().special(Special::kPrivileged));
  t.add(op(0x6f).implicit(Im::kOuts).flags(Fx::kString).special(Special::kPrivileged));
  t.add(op(0xa4).implicit(Im::kMovs).flags(Fx::kString).byte());
  t.add(op(0xa5).implicit(Im::kMovs).flags(Fx::kString));
  t.add(op(0xa6).implicit(Im::kCmps).flags(Fx::kStringCmp).byte());
  t.add(op(0xa7).implicit(Im::kCmps).flags(Fx::kStringCmp));
  t.add(op(0xaa).implicit(Im::kStos).flags(Fx::kString).byte());
  t.add(op(0xab).implicit(Im::kStos).flags(Fx::kString));
  t.add(op(0xac).implicit(Im::kLods).flags(Fx::kString).byte());
  t.add(op(0xad).implicit(Im::kLods).flags(Fx::kString));
  t.add(op(0xae).implicit(Im::kScas).flags(Fx::kStringCmp).byte());
  t.add(op(0xaf).implicit(Im::kScas).flags(Fx::kStringCmp));
}

template <int N>
constexpr void add_x87_rows(RowList<N>& t) {
  // Register forms: one row for all eight stack registers, `regs` a bit mask of modrm.reg.
  const auto regs = [](unsigned opcode, unsigned exts) {
    return op(opcode).reg_only().only(kRegMask, exts << kRegShift);
  };
  const auto rms = [](unsigned opcode, unsigned ext, unsigned mask) {
    return op(opcode).reg_only().ext(ext).only(kRmMask, mask << kRmShift);
  };
  // D8: fadd fmul fcom fcomp fsub fsubr fdiv fdivr.
  t.add(op(0xd8).M(kM4, kR));
  t.add(regs(0xd8, 0xff));
  // D9.
  t.add(op(0xd9).M(kM4, kR).ext(0));                                // fld m32
  t.add(op(0xd9).M(kM4, kWr).ext(2));                               // fst m32
  t.add(op(0xd9).M(kM4, kWr).ext(3));                               // fstp m32
  t.add(op(0xd9).M(kMEnv, kR).ext(4).special(Special::kFldenv));    // fldenv
  t.add(op(0xd9).M(kM2, kR).ext(5));                                // fldcw
  t.add(op(0xd9).M(kMEnv, kWr).ext(6).special(Special::kFnstenv));  // fnstenv
  t.add(op(0xd9).M(kM2, kWr).ext(7));                               // fnstcw
  t.add(regs(0xd9, 0xcb));                                          // fld fxch, fstp, f2xm1 ...
  t.add(rms(0xd9, 2, 0x01));                                        // fnop
  t.add(rms(0xd9, 4, 0x33));                                        // fchs fabs ftst fxam
  t.add(rms(0xd9, 5, 0x7f));                                        // fld1 ... fldz
  // DA.
  t.add(op(0xda).M(kM4, kR));  // fiadd m32 ...
  t.add(regs(0xda, 1).flags(Fx::kFcmovB));
  t.add(regs(0xda, 2).flags(Fx::kFcmovE));
  t.add(regs(0xda, 4).flags(Fx::kFcmovBe));
  t.add(regs(0xda, 8).flags(Fx::kFcmovU));
  t.add(rms(0xda, 5, 0x02));  // fucompp
  // DB.
  t.add(op(0xdb).M(kM4, kR).ext(0));                               // fild m32
  t.add(op(0xdb).M(kM4, kWr).only(kRegMask, 0x0eu << kRegShift));  // fisttp fist fistp m32
  t.add(op(0xdb).M(kM10, kR).ext(5));                              // fld m80
  t.add(op(0xdb).M(kM10, kWr).ext(7));                             // fstp m80
  t.add(regs(0xdb, 1).flags(Fx::kFcmovB));
  t.add(regs(0xdb, 2).flags(Fx::kFcmovE));
  t.add(regs(0xdb, 4).flags(Fx::kFcmovBe));
  t.add(regs(0xdb, 8).flags(Fx::kFcmovU));
  t.add(rms(0xdb, 4, 0x1f));                  // fneni fndisi fnclex fninit fnsetpm
  t.add(regs(0xdb, 0x60).flags(Fx::kComis));  // fucomi fcomi
  // DC.
  t.add(op(0xdc).M(kM8, kR));
  t.add(regs(0xdc, 0xff));
  // DD.
  t.add(op(0xdd).M(kM8, kR).ext(0));                               // fld m64
  t.add(op(0xdd).M(kM8, kWr).only(kRegMask, 0x0eu << kRegShift));  // fisttp fst fstp m64
  t.add(op(0xdd).M(kMFpu, kR).ext(4).special(Special::kFrstor));   // frstor
  t.add(op(0xdd).M(kMFpu, kWr).ext(6).special(Special::kFnsave));  // fnsave
  t.add(op(0xdd).M(kM2, kWr).ext(7));                              // fnstsw m16
  t.add(regs(0xdd, 0x3f));                                         // ffree fxch fst fstp fucom fucomp
  // DE.
  t.add(op(0xde).M(kM2, kR));
  t.add(regs(0xde, 0xf7));
  t.add(rms(0xde, 3, 0x02));  // fcompp
  // DF.
  t.add(op(0xdf).M(kM2, kR).ext(0));                               // fild m16
  t.add(op(0xdf).M(kM2, kWr).only(kRegMask, 0x0eu << kRegShift));  // fisttp fist fistp m16
  t.add(op(0xdf).M(kM10, kR).ext(4));                              // fbld
  t.add(op(0xdf).M(kM8, kR).ext(5));                               // fild m64
  t.add(op(0xdf).M(kM10, kWr).ext(6));                             // fbstp
  t.add(op(0xdf).M(kM8, kWr).ext(7));                              // fistp m64
  t.add(regs(0xdf, 0x0f));                                         // ffreep fxch fstp fstp
  t.add(rms(0xdf, 4, 0x01).implicit(Im::kAccRw));                  // fnstsw ax
  t.add(regs(0xdf, 0x60).flags(Fx::kComis));                       // fucomip fcomip
}

template <int N>
constexpr void add_1byte_rows(RowList<N>& t) {
  t.table = Table::k1Byte;
  add_alu_rows(t);
  add_shift_rows(t);
  add_string_rows(t);
  add_x87_rows(t);

  for (unsigned i = 0; i < 8; ++i) {
    t.add(op(0x50 + i).Z(kV, kR).d64().implicit(Im::kPush));
    t.add(op(0x58 + i).Z(kV, kWr).d64().implicit(Im::kPop));
    t.add(op(0xb0 + i).Z(kB, kWr).imm(Imm::kIb).byte());
    t.add(op(0xb8 + i).Z(kV, kWr).imm(Imm::kIv));
  }
  for (unsigned i = 0; i < 16; ++i)
    t.add(op(0x70 + i).branch(Branch::kJccRel).flags(Fx::kCc).imm(Imm::kRel8).f64());

  t.add(op(0x63).E(kD, kMZ, kR).G(kV, kWr));                // movsxd: with 66 it loads 2 bytes
  t.add(op(0x68).imm(Imm::kIz).d64().implicit(Im::kPush));  // push Iz
  t.add(op(0x69).E(kV, kR).G(kV, kWr).imm(Imm::kIz).flags(Fx::kMul));
  t.add(op(0x6a).ib().d64().implicit(Im::kPush));  // push Ib
  t.add(op(0x6b).E(kV, kR).G(kV, kWr).ib().flags(Fx::kMul));

  t.add(op(0x84).E(kB, kR).G(kB, kR).flags(Fx::kLogic).byte());  // test
  t.add(op(0x85).E(kV, kR).G(kV, kR).flags(Fx::kLogic));
  t.add(op(0x86).E(kB, kRw).G(kB, kRw).byte().lock());  // xchg
  t.add(op(0x87).E(kV, kRw).G(kV, kRw).lock());
  t.add(op(0x88).E(kB, kWr).G(kB, kR).byte());  // mov
  t.add(op(0x89).E(kV, kWr).G(kV, kR));
  t.add(op(0x8a).E(kB, kR).G(kB, kWr).byte());
  t.add(op(0x8b).E(kV, kR).G(kV, kWr));
  t.add(op(0x8c).E(kV, kM2, kWr).G(kSeg, kR));              // mov Ev, Sw
  t.add(op(0x8d).M(kMNone, kAgen).G(kV, kWr).with(kALea));  // lea
  t.add(op(0x8e).E(kW, kR).G(kSegW, kWr).special(Special::kMovSeg));
  t.add(op(0x8f).ext(0).E(kV, kWr).d64().implicit(Im::kPop));  // pop Ev

  t.add(op(0x90).b0());       // nop; pause
  t.add(op(0x90).b1().f3());  // pause: REX.B is ignored
  t.add(op(0x90).b1().Z(kV, kRw).implicit(Im::kAccRw));
  for (unsigned i = 1; i < 8; ++i) t.add(op(0x90 + i).Z(kV, kRw).implicit(Im::kAccRw));
  t.add(op(0x98).implicit(Im::kAccRw));
  t.add(op(0x99).implicit(Im::kCwd));
  t.add(op(0x9b));  // fwait
  t.add(op(0x9c).d64().implicit(Im::kPush).flags(Fx::kPushf));
  t.add(op(0x9d).d64().implicit(Im::kPop).flags(Fx::kPopf));
  t.add(op(0x9e).implicit(Im::kAccR).flags(Fx::kSahf));
  t.add(op(0x9f).implicit(Im::kAccRw).flags(Fx::kLahf));

  t.add(op(0xa0).imm(Imm::kMoffs).byte().implicit(Im::kMoffsLoad));
  t.add(op(0xa1).imm(Imm::kMoffs).implicit(Im::kMoffsLoad));
  t.add(op(0xa2).imm(Imm::kMoffs).byte().implicit(Im::kMoffsStore));
  t.add(op(0xa3).imm(Imm::kMoffs).implicit(Im::kMoffsStore));
  t.add(op(0xa8).implicit(Im::kAccR).flags(Fx::kLogic).ib().byte());
  t.add(op(0xa9).implicit(Im::kAccR).flags(Fx::kLogic).imm(Imm::kIz));

  t.add(op(0xc2).imm(Imm::kIw).f64().implicit(Im::kPop).branch(Branch::kRet));
  t.add(op(0xc3).f64().implicit(Im::kPop).branch(Branch::kRet));
  t.add(op(0xc6).exact(0xf8).imm(Imm::kIb).byte().implicit(Im::kAccRw).special(Special::kXabort));
  t.add(op(0xc6).ext(0).E(kB, kWr).ib().byte());
  t.add(op(0xc7)
            .exact(0xf8)
            .imm(Imm::kRelZ)
            .implicit(Im::kAccRw)
            .branch(Branch::kXbegin)
            .special(Special::kXbegin));
  t.add(op(0xc7).ext(0).E(kV, kWr).imm(Imm::kIz));
  t.add(op(0xc8).imm(Imm::kIwIb).d64().implicit(Im::kEnter));
  t.add(op(0xc9).d64().implicit(Im::kLeave));
  t.add(op(0xca).imm(Imm::kIw).implicit(Im::kFarRet).branch(Branch::kFarRet));
  t.add(op(0xcb).implicit(Im::kFarRet).branch(Branch::kFarRet));
  t.add(op(0xcc).special(Special::kInt3));
  t.add(op(0xcd).imm(Imm::kIbU).special(Special::kIntN));
  t.add(op(0xcf).implicit(Im::kIret).branch(Branch::kIret).flags(Fx::kPopf));

  t.add(op(0xd7).byte().implicit(Im::kXlat));
  t.add(op(0xe0).imm(Imm::kRel8).f64().implicit(Im::kCxRw).flags(Fx::kReadZf).branch(Branch::kLoopRel));
  t.add(op(0xe1).imm(Imm::kRel8).f64().implicit(Im::kCxRw).flags(Fx::kReadZf).branch(Branch::kLoopRel));
  t.add(op(0xe2).imm(Imm::kRel8).f64().implicit(Im::kCxRw).branch(Branch::kLoopRel));
  t.add(op(0xe3).imm(Imm::kRel8).f64().implicit(Im::kCxR).branch(Branch::kLoopRel));
  t.add(op(0xe4).imm(Imm::kIbU).byte().special(Special::kPrivileged));
  t.add(op(0xe5).imm(Imm::kIbU).special(Special::kPrivileged));
  t.add(op(0xe6).imm(Imm::kIbU).byte().special(Special::kPrivileged));
  t.add(op(0xe7).imm(Imm::kIbU).special(Special::kPrivileged));
  t.add(op(0xe8).imm(Imm::kRel32).f64().implicit(Im::kPush).branch(Branch::kCallRel));
  t.add(op(0xe9).imm(Imm::kRel32).f64().branch(Branch::kJmpRel));
  t.add(op(0xeb).imm(Imm::kRel8).f64().branch(Branch::kJmpRel));
  t.add(op(0xec).byte().special(Special::kPrivileged));
  t.add(op(0xed).special(Special::kPrivileged));
  t.add(op(0xee).byte().special(Special::kPrivileged));
  t.add(op(0xef).special(Special::kPrivileged));

  t.add(op(0xf1).special(Special::kInt1));
  t.add(op(0xf4).special(Special::kHlt));
  t.add(op(0xf5).flags(Fx::kCmc));
  t.add(op(0xf6).only(kRegMask, 3u << kRegShift).E(kB, kR).flags(Fx::kLogic).ib().byte());  // test
  t.add(op(0xf6).ext(2).E(kB, kRw).byte().lock());                                          // not
  t.add(op(0xf6).ext(3).E(kB, kRw).flags(Fx::kAdd).byte().lock());                          // neg
  t.add(op(0xf6).ext(4).E(kB, kR).flags(Fx::kMul).byte().implicit(Im::kAccRw));
  t.add(op(0xf6).ext(5).E(kB, kR).flags(Fx::kMul).byte().implicit(Im::kAccRw));
  t.add(op(0xf6).ext(6).E(kB, kR).flags(Fx::kDiv).byte().implicit(Im::kAccRw));
  t.add(op(0xf6).ext(7).E(kB, kR).flags(Fx::kDiv).byte().implicit(Im::kAccRw));
  t.add(op(0xf7).only(kRegMask, 3u << kRegShift).E(kV, kR).flags(Fx::kLogic).imm(Imm::kIz));
  t.add(op(0xf7).ext(2).E(kV, kRw).lock());
  t.add(op(0xf7).ext(3).E(kV, kRw).flags(Fx::kAdd).lock());
  t.add(op(0xf7).ext(4).E(kV, kR).flags(Fx::kMul).implicit(Im::kMul));
  t.add(op(0xf7).ext(5).E(kV, kR).flags(Fx::kMul).implicit(Im::kMul));
  t.add(op(0xf7).ext(6).E(kV, kR).flags(Fx::kDiv).implicit(Im::kDiv));
  t.add(op(0xf7).ext(7).E(kV, kR).flags(Fx::kDiv).implicit(Im::kDiv));
  t.add(op(0xf8).flags(Fx::kCf));                 // clc
  t.add(op(0xf9).flags(Fx::kCf));                 // stc
  t.add(op(0xfa).special(Special::kPrivileged));  // cli
  t.add(op(0xfb).special(Special::kPrivileged));  // sti
  t.add(op(0xfc).flags(Fx::kDf));                 // cld
  t.add(op(0xfd).flags(Fx::kDf));                 // std
  t.add(op(0xfe).ext(0).E(kB, kRw).flags(Fx::kIncDec).byte().lock());
  t.add(op(0xfe).ext(1).E(kB, kRw).flags(Fx::kIncDec).byte().lock());
  t.add(op(0xff).ext(0).E(kV, kRw).flags(Fx::kIncDec).lock());
  t.add(op(0xff).ext(1).E(kV, kRw).flags(Fx::kIncDec).lock());
  t.add(op(0xff).ext(2).E(kQ, kR).f64().implicit(Im::kPush).branch(Branch::kCallIndirect));
  t.add(op(0xff).ext(3).M(kMFar, kR).implicit(Im::kFarCall).branch(Branch::kFarCall));
  t.add(op(0xff).ext(4).E(kQ, kR).f64().branch(Branch::kJmpIndirect));
  t.add(op(0xff).ext(5).M(kMFar, kR).branch(Branch::kFarJmp));
  t.add(op(0xff).ext(6).E(kV, kR).d64().implicit(Im::kPush));
}

}  // namespace detrec::guest::tables
