// Rows of the VEX encodings: AVX, AVX2, FMA, opmask instructions, BMI, AMX (Intel SDM 2D, tables ).
#pragma once

#include "trace/guest/decode/tables/row.h"

namespace detrec::guest::tables {

/// VEX rows begin with 128 or 256 bits allowed.
constexpr Row vex(unsigned opcode) { return op(opcode).only(kLMask, 3u << kLShift); }

template <int N>
constexpr void add_vex_0f_rows(RowList<N>& t) {
  t.table = Table::kVex0F;
  const auto packed = [&t](unsigned o) { t.add(vex(o).np66().nds().X(kMVl, kR)); };
  const auto scalar = [&t](unsigned o) {
    t.add(vex(o).f3().nds().X(kM4, kR));
    t.add(vex(o).f2().nds().X(kM8, kR));
  };
  const auto integer = [&t](unsigned o, MemSize size = kMVl) { t.add(vex(o).p66().nds().X(size, kR)); };

  t.add(vex(0x10).np66().X(kMVl, kR));
  t.add(vex(0x10).f3().M(kM4, kR));
  t.add(vex(0x10).f2().M(kM8, kR));
  t.add(vex(0x10).pp(kPpF3 | kPpF2).nds().reg_only());
  t.add(vex(0x11).np66().X(kMVl, kWr));
  t.add(vex(0x11).f3().M(kM4, kWr));
  t.add(vex(0x11).f2().M(kM8, kWr));
  t.add(vex(0x11).pp(kPpF3 | kPpF2).nds().reg_only());
  for (unsigned o : {0x12u, 0x16u}) {
    t.add(vex(o).np().l0().nds().X(kM8, kR));   // movlps, movhlps; movhps, movlhps
    t.add(vex(o).p66().l0().nds().M(kM8, kR));  // movlpd; movhpd
    t.add(vex(o).f3().X(kMVl, kR));             // movsldup; movshdup
    t.add(vex(o + 1).np66().l0().M(kM8, kWr));
  }
  t.add(vex(0x12).f2().X(kMDup, kR));
  packed(0x14);
  packed(0x15);
  t.add(vex(0x28).np66().X(kMVl, kR));
  t.add(vex(0x29).np66().X(kMVl, kWr));
  t.add(vex(0x2a).pp(kPpF3 | kPpF2).nds().E(kY, kR));
  t.add(vex(0x2b).np66().M(kMVl, kWr));
  for (unsigned o : {0x2cu, 0x2du}) {
    t.add(vex(o).f3().X(kM4, kR).G(kY, kWr));
    t.add(vex(o).f2().X(kM8, kR).G(kY, kWr));
  }
  for (unsigned o : {0x2eu, 0x2fu}) {
    t.add(vex(o).np().X(kM4, kR).flags(Fx::kComis));
    t.add(vex(o).p66().X(kM8, kR).flags(Fx::kComis));
  }

  // Opmask instructions.
  const auto mask_reg = [](unsigned o) { return vex(o).reg_only().E(kMask, kMNone, kR).G(kMask, kWr); };
  for (unsigned o : {0x41u, 0x42u, 0x45u, 0x46u, 0x47u, 0x4au})
    t.add(mask_reg(o).np66().l1().nds().with(kAVvvvMask));
  t.add(mask_reg(0x44).np66().l0());                             // knot
  t.add(mask_reg(0x4b).np().l1().nds().with(kAVvvvMask));        // kunpckwd, kunpckdq
  t.add(mask_reg(0x4b).p66().w0().l1().nds().with(kAVvvvMask));  // kunpckbw
  constexpr MemSize kMaskSize[4] = {kM2, kM8, kM1, kM4};         // by pp and W
  for (unsigned i = 0; i < 4; ++i) {
    const std::uint32_t pp = i < 2 ? kPpNone : kPp66;
    t.add(vex(0x90).pp(pp).w(i & 1).l0().E(kMask, kMaskSize[i], kR).G(kMask, kWr));
    t.add(vex(0x91).pp(pp).w(i & 1).l0().M(kMaskSize[i], kWr).G(kMask, kR));
  }
  t.add(vex(0x92).np66().w0().l0().R(kD, kR).G(kMask, kWr));  // kmov k, r
  t.add(vex(0x92).f2().l0().R(kY, kR).G(kMask, kWr));
  t.add(vex(0x93).np66().w0().l0().R(kMask, kR).G(kD, kWr));  // kmov r, k
  t.add(vex(0x93).f2().l0().R(kMask, kR).G(kY, kWr));
  t.add(mask_reg(0x98).np66().l0().flags(Fx::kPopcnt));  // kortest
  t.add(mask_reg(0x99).np66().l0().flags(Fx::kPopcnt));  // ktest

  t.add(vex(0x50).np66().R(kNoGpr, kR).G(kD, kWr));
  t.add(vex(0x51).np66().X(kMVl, kR));
  scalar(0x51);
  for (unsigned o : {0x52u, 0x53u}) {
    t.add(vex(o).np().X(kMVl, kR));
    t.add(vex(o).f3().nds().X(kM4, kR));
  }
  for (unsigned o = 0x54; o <= 0x57; ++o) packed(o);
  for (unsigned o : {0x58u, 0x59u, 0x5cu, 0x5du, 0x5eu, 0x5fu}) {
    packed(o);
    scalar(o);
  }
  t.add(vex(0x5a).np().X(kMVl2, kR));
  t.add(vex(0x5a).p66().X(kMVl, kR));
  scalar(0x5a);
  t.add(vex(0x5b).pp(kPpNone | kPp66 | kPpF3).X(kMVl, kR));
  for (unsigned o = 0x60; o <= 0x6d; ++o) integer(o);
  t.add(vex(0x6e).p66().l0().E(kY, kR));
  t.add(vex(0x6f).pp(kPp66 | kPpF3).X(kMVl, kR));
  t.add(vex(0x70).pp(kPp66 | kPpF3 | kPpF2).X(kMVl, kR).ib());
  for (unsigned o : {0x71u, 0x72u, 0x73u})
    for (unsigned i : {2u, 4u, 6u})
      if (o != 0x73 || i != 4) t.add(vex(o).p66().reg_only().ext(i).nds().ib());
  t.add(vex(0x73).p66().reg_only().ext(3).nds().ib());
  t.add(vex(0x73).p66().reg_only().ext(7).nds().ib());
  for (unsigned o : {0x74u, 0x75u, 0x76u}) integer(o);
  t.add(vex(0x77).np());  // vzeroupper, vzeroall
  t.add(vex(0x7c).pp(kPp66 | kPpF2).nds().X(kMVl, kR));
  t.add(vex(0x7d).pp(kPp66 | kPpF2).nds().X(kMVl, kR));
  t.add(vex(0x7e).p66().l0().E(kY, kWr));
  t.add(vex(0x7e).f3().l0().X(kM8, kR));
  t.add(vex(0x7f).pp(kPp66 | kPpF3).X(kMVl, kWr));
  t.add(vex(0xae).np().l0().M(kM4, kR).ext(2));
  t.add(vex(0xae).np().l0().M(kM4, kWr).ext(3));
  t.add(vex(0xc2).np66().nds().X(kMVl, kR).ib());
  t.add(vex(0xc2).f3().nds().X(kM4, kR).ib());
  t.add(vex(0xc2).f2().nds().X(kM8, kR).ib());
  t.add(vex(0xc4).p66().l0().nds().E(kD, kM2, kR).ib());
  t.add(vex(0xc5).p66().l0().R(kNoGpr, kR).G(kD, kWr).ib());
  t.add(vex(0xc6).np66().nds().X(kMVl, kR).ib());
  t.add(vex(0xd0).pp(kPp66 | kPpF2).nds().X(kMVl, kR));
  t.add(vex(0xd6).p66().l0().X(kM8, kWr));
  t.add(vex(0xd7).p66().R(kNoGpr, kR).G(kD, kWr));
  for (unsigned o = 0xd1; o <= 0xfe; ++o) {
    if (o == 0xd6 || o == 0xd7 || o == 0xe6 || o == 0xe7 || o == 0xf0 || o == 0xf7) continue;
    const bool shift = (o >= 0xd1 && o <= 0xd3) || o == 0xe1 || o == 0xe2 || (o >= 0xf1 && o <= 0xf3);
    integer(o, shift ? kM16 : kMVl);
  }
  t.add(vex(0xe6).pp(kPp66 | kPpF2).X(kMVl, kR));
  t.add(vex(0xe6).f3().X(kMVl2, kR));
  t.add(vex(0xe7).p66().M(kMVl, kWr));
  t.add(vex(0xf0).f2().M(kMVl, kR));
  t.add(vex(0xf7).p66().l0().R(kNoGpr, kR).implicit(Im::kMaskMov));
}

template <int N>
constexpr void add_vex_0f38_rows(RowList<N>& t) {
  t.table = Table::kVex0F38;
  const auto nds = [](unsigned o) { return vex(o).p66().nds().X(kMVl, kR); };
  for (unsigned o = 0x00; o <= 0x0b; ++o) t.add(nds(o));
  t.add(nds(0x0c).w0());                                       // vpermilps
  t.add(nds(0x0d).w0());                                       // vpermilpd
  t.add(vex(0x0e).p66().w0().X(kMVl, kR).flags(Fx::kPopcnt));  // vtestps
  t.add(vex(0x0f).p66().w0().X(kMVl, kR).flags(Fx::kPopcnt));
  t.add(vex(0x13).p66().w0().X(kMVl2, kR));               // vcvtph2ps
  t.add(nds(0x16).w0().l1());                             // vpermps
  t.add(vex(0x17).p66().X(kMVl, kR).flags(Fx::kPopcnt));  // vptest
  t.add(vex(0x18).p66().w0().X(kM4, kR));                 // vbroadcastss
  t.add(vex(0x19).p66().w0().l1().X(kM8, kR));
  t.add(vex(0x1a).p66().w0().l1().M(kM16, kR));
  for (unsigned o : {0x1cu, 0x1du, 0x1eu}) t.add(vex(o).p66().X(kMVl, kR));
  constexpr MemSize kExtend[6] = {kMVl2, kMVl4, kMVl8, kMVl2, kMVl4, kMVl2};
  for (unsigned i = 0; i < 6; ++i) {
    t.add(vex(0x20 + i).p66().X(kExtend[i], kR));
    t.add(vex(0x30 + i).p66().X(kExtend[i], kR));
  }
  t.add(nds(0x28));
  t.add(nds(0x29));
  t.add(vex(0x2a).p66().M(kMVl, kR));
  t.add(nds(0x2b));
  for (unsigned o : {0x2cu, 0x2du}) {  // vmaskmovps, vmaskmovpd
    t.add(vex(o).p66().w0().nds().M(kMVl, kR));
    t.add(vex(o + 2).p66().w0().nds().M(kMVl, kWr));
  }
  t.add(nds(0x36).w0().l1());  // vpermd
  for (unsigned o = 0x37; o <= 0x40; ++o) t.add(nds(o));
  t.add(vex(0x41).p66().l0().X(kM16, kR));
  t.add(nds(0x45));
  t.add(nds(0x46).w0());
  t.add(nds(0x47));
  // AMX.
  const auto amx = [](unsigned o) { return vex(o).w0().l0().special(Special::kAmx); };
  t.add(amx(0x49).np().M(kM64, kR).ext(0));
  t.add(amx(0x49).p66().M(kM64, kWr).ext(0));
  t.add(amx(0x49).np().exact(0xc0));
  t.add(amx(0x49).f2().R(kNoGpr, kR).rm_is(0).G(kTile, kWr));
  t.add(amx(0x4b).pp(kPp66 | kPpF2).M(kMState, kR).G(kTile, kWr).with(kASib));
  t.add(amx(0x4b).f3().M(kMState, kWr).G(kTile, kR).with(kASib));
  const auto tdp = [&amx](unsigned o) {
    return amx(o).R(kTile, kR).G(kTile, kRw).nds().with(kATileVvvv | kADistinct);
  };
  t.add(tdp(0x5c).pp(kPpF3 | kPpF2));
  t.add(tdp(0x6c).np66());
  t.add(tdp(0x5e));

  for (unsigned o = 0x50; o <= 0x53; ++o) t.add(nds(o).w0());  // AVX-VNNI
  t.add(vex(0x58).p66().w0().X(kM4, kR));
  t.add(vex(0x59).p66().w0().X(kM8, kR));
  t.add(vex(0x5a).p66().w0().l1().M(kM16, kR));
  t.add(vex(0x78).p66().w0().X(kM1, kR));
  t.add(vex(0x79).p66().w0().X(kM2, kR));
  t.add(vex(0x8c).p66().nds().M(kMVl, kR));
  t.add(vex(0x8e).p66().nds().M(kMVl, kWr));
  for (unsigned o = 0x90; o <= 0x93; ++o)  // gathers; the mask (vvvv) is cleared
    t.add(vex(o).p66().nds().M(kMY, kR).with(kAVsib | kADistinct));
  for (unsigned base : {0x90u, 0xa0u, 0xb0u}) {  // FMA
    for (unsigned i = 6; i <= 15; ++i) {
      const bool scalar = i > 8 && (i & 1) != 0;
      t.add(vex(base + i).p66().nds().X(scalar ? kMY : kMVl, kR));
    }
  }
  t.add(nds(0xcf).w0());
  t.add(vex(0xdb).p66().l0().X(kM16, kR));
  for (unsigned o = 0xdc; o <= 0xdf; ++o) t.add(nds(o));
  // Newer extensions: AVX-IFMA, AVX-VNNI-INT8 and -INT16, AVX-NE-CONVERT, SHA512, SM3, SM4, CMPccXADD.
  const auto w0 = [](unsigned o) { return vex(o).w0(); };
  for (unsigned o : {0xb4u, 0xb5u}) t.add(nds(o).w1());
  for (unsigned o : {0x50u, 0x51u}) t.add(w0(o).pp(kPpNone | kPpF3 | kPpF2).nds().X(kMVl, kR));
  for (unsigned o : {0xd2u, 0xd3u}) t.add(w0(o).pp(kPpNone | kPp66 | kPpF3).nds().X(kMVl, kR));
  t.add(w0(0xb0).M(kMVl, kR));
  t.add(w0(0xb1).pp(kPp66 | kPpF3).M(kM2, kR));
  t.add(w0(0x72).f3().X(kMVl, kR));
  t.add(w0(0xcb).f2().l1().reg_only().nds());
  t.add(w0(0xcc).f2().l1().reg_only());
  t.add(w0(0xcd).f2().l1().reg_only());
  t.add(w0(0xda).np66().l0().nds().X(kM16, kR));
  t.add(w0(0xda).pp(kPpF3 | kPpF2).nds().X(kMVl, kR));
  for (unsigned i = 0; i < 16; ++i)
    t.add(vex(0xe0 + i).p66().l0().M(kMY, kRw).G(kY, kRw).V(kY, kR).flags(Fx::kAdd));
  // BMI.
  const auto bmi = [](unsigned o) { return vex(o).l0(); };
  t.add(bmi(0xf2).np().E(kY, kR).G(kY, kWr).V(kY, kR).flags(Fx::kAndn));
  for (unsigned i = 1; i <= 3; ++i) t.add(bmi(0xf3).np().ext(i).E(kY, kR).V(kY, kWr).flags(Fx::kBls));
  t.add(bmi(0xf5).np().E(kY, kR).G(kY, kWr).V(kY, kR).flags(Fx::kBzhi));
  t.add(bmi(0xf5).pp(kPpF3 | kPpF2).E(kY, kR).G(kY, kWr).V(kY, kR));          // pext, pdep
  t.add(bmi(0xf6).f2().E(kY, kR).G(kY, kWr).V(kY, kWr).implicit(Im::kDxR));   // mulx
  t.add(bmi(0xf7).np().E(kY, kR).G(kY, kWr).V(kY, kR).flags(Fx::kBextr));     // bextr
  t.add(bmi(0xf7).pp(kPp66 | kPpF3 | kPpF2).E(kY, kR).G(kY, kWr).V(kY, kR));  // shlx sarx shrx
}

template <int N>
constexpr void add_vex_0f3a_rows(RowList<N>& t) {
  t.table = Table::kVex0F3A;
  const auto nds = [](unsigned o) { return vex(o).p66().nds().X(kMVl, kR).ib(); };
  const auto plain = [](unsigned o) { return vex(o).p66().ib(); };
  t.add(plain(0x00).w1().l1().X(kMVl, kR));
  t.add(plain(0x01).w1().l1().X(kMVl, kR));
  t.add(nds(0x02).w0());
  t.add(plain(0x04).w0().X(kMVl, kR));
  t.add(plain(0x05).w0().X(kMVl, kR));
  t.add(nds(0x06).w0().l1());
  t.add(plain(0x08).X(kMVl, kR));
  t.add(plain(0x09).X(kMVl, kR));
  t.add(plain(0x0a).nds().X(kM4, kR));
  t.add(plain(0x0b).nds().X(kM8, kR));
  for (unsigned o = 0x0c; o <= 0x0f; ++o) t.add(nds(o));
  t.add(plain(0x14).l0().E(kD, kM1, kWr));
  t.add(plain(0x15).l0().E(kD, kM2, kWr));
  t.add(plain(0x16).l0().E(kY, kWr));
  t.add(plain(0x17).l0().E(kD, kWr));
  t.add(plain(0x1d).w0().X(kMVl2, kWr));
  for (unsigned o : {0x18u, 0x38u}) {
    t.add(plain(o).w0().l1().nds().X(kM16, kR));
    t.add(plain(o + 1).w0().l1().X(kM16, kWr));
  }
  t.add(plain(0x20).l0().nds().E(kD, kM1, kR));
  t.add(plain(0x21).l0().nds().X(kM4, kR));
  t.add(plain(0x22).l0().nds().E(kY, kR));
  for (unsigned o = 0x30; o <= 0x33; ++o)  // kshift
    t.add(plain(o).l0().reg_only().E(kMask, kMNone, kR).G(kMask, kWr));
  t.add(nds(0x40));
  t.add(nds(0x41).l0());
  t.add(nds(0x42));
  t.add(nds(0x44));
  t.add(nds(0x46).w0().l1());
  for (unsigned o : {0x4au, 0x4bu, 0x4cu}) t.add(nds(o).w0());  // blendv: the immediate names a register
  t.add(plain(0x60).l0().X(kM16, kR).implicit(Im::kDxAxR).flags(Fx::kPopcnt));
  t.add(plain(0x61).l0().X(kM16, kR).implicit(Im::kDxAxToCx).flags(Fx::kPopcnt));
  t.add(plain(0x62).l0().X(kM16, kR).flags(Fx::kPopcnt));
  t.add(plain(0x63).l0().X(kM16, kR).implicit(Im::kCxW).flags(Fx::kPopcnt));
  // FMA4 and XOP's permutes: W exchanges the last two sources, the immediate names the fourth register.
  t.add(nds(0x48));
  t.add(nds(0x49));
  for (unsigned base : {0x5cu, 0x68u, 0x6cu, 0x78u, 0x7cu}) {
    for (unsigned i = 0; i < 4; ++i)
      t.add(plain(base + i).nds().X(base == 0x5c || i < 2 ? kMVl : i == 2 ? kM4 : kM8, kR));
  }
  t.add(nds(0xce).w1());
  t.add(nds(0xcf).w1());
  t.add(nds(0xde).w0().l0());  // vsm3rnds2
  t.add(plain(0xdf).l0().X(kM16, kR));
  t.add(vex(0xf0).f2().l0().E(kY, kR).G(kY, kWr).ib());  // rorx
}

template <int N>
constexpr void add_vex_rows(RowList<N>& t) {
  add_vex_0f_rows(t);
  add_vex_0f38_rows(t);
  add_vex_0f3a_rows(t);
}

}  // namespace detrec::guest::tables
