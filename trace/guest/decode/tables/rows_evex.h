// Rows of the EVEX encodings: AVX-512 (Intel SDM 2D, tables ), and its FP16 maps in rows_fp16.h.
#pragma once

#include "trace/guest/decode/tables/row.h"
#include "trace/guest/decode/tables/rows_fp16.h"

namespace detrec::guest::tables {

template <int N>
constexpr void add_evex_0f_move_rows(RowList<N>& t) {
  t.add(evex(0x10).np().w0().X(kMVl, kR).mz());  // movups, movupd
  t.add(evex(0x10).p66().w1().X(kMVl, kR).mz());
  t.add(evex(0x11).np().w0().X(kMVl, kWr).mz());
  t.add(evex(0x11).p66().w1().X(kMVl, kWr).mz());
  for (unsigned o : {0x10u, 0x11u}) {  // movss, movsd
    const Access a = o == 0x10 ? kR : kWr;
    t.add(evex(o).f3().w0().M(kM4, a).mz());
    t.add(evex(o).f3().w0().reg_only().nds().mz());
    t.add(evex(o).f2().w1().M(kM8, a).mz());
    t.add(evex(o).f2().w1().reg_only().nds().mz());
  }
  for (unsigned o : {0x12u, 0x16u}) {
    t.add(evex(o).np().w0().l0().nds().X(kM8, kR));   // movlps, movhlps; movhps, movlhps
    t.add(evex(o).p66().w1().l0().nds().M(kM8, kR));  // movlpd; movhpd
    t.add(evex(o).f3().w0().X(kMVl, kR).mz());        // movsldup; movshdup
    t.add(evex(o + 1).np().w0().l0().M(kM8, kWr));
    t.add(evex(o + 1).p66().w1().l0().M(kM8, kWr));
  }
  t.add(evex(0x12).f2().w1().X(kMDup, kR).mz());  // movddup
  t.add(evex(0x28).np().w0().X(kMVl, kR).mz());
  t.add(evex(0x28).p66().w1().X(kMVl, kR).mz());
  t.add(evex(0x29).np().w0().X(kMVl, kWr).mz());
  t.add(evex(0x29).p66().w1().X(kMVl, kWr).mz());
  t.add(evex(0x2b).np().w0().M(kMVl, kWr));
  t.add(evex(0x2b).p66().w1().M(kMVl, kWr));
  t.add(evex(0x6e).p66().l0().E(kY, kR));
  t.add(evex(0x7e).p66().l0().E(kY, kWr));
  t.add(evex(0x7e).f3().w1().l0().X(kM8, kR));
  t.add(evex(0xd6).p66().w1().l0().X(kM8, kWr));
  t.add(evex(0x6f).pp(kPp66 | kPpF3 | kPpF2).X(kMVl, kR).mz());  // movdqa32/64, movdqu8/16/32/64
  t.add(evex(0x7f).pp(kPp66 | kPpF3 | kPpF2).X(kMVl, kWr).mz());
  t.add(evex(0xe7).p66().w0().M(kMVl, kWr));
  t.add(evex(0xc4).p66().l0().nds().E(kD, kM2, kR).ib());
  t.add(evex(0xc5).p66().l0().R(kNoGpr, kR).G(kD, kWr).ib());
}

template <int N>
constexpr void add_evex_0f_float_rows(RowList<N>& t) {
  // Packed single and double with broadcast; scalar single and double.
  const auto packed = [&t](unsigned o, std::uint32_t attrs = 0) {
    t.add(evex(o).np().w0().nds().X(kMVl, kR).mz().bc4().with(attrs));
    t.add(evex(o).p66().w1().nds().X(kMVl, kR).mz().bc8().with(attrs));
  };
  const auto scalar = [&t](unsigned o, std::uint32_t attrs) {
    t.add(evex(o).f3().w0().nds().X(kM4, kR).mz().with(attrs));
    t.add(evex(o).f2().w1().nds().X(kM8, kR).mz().with(attrs));
  };
  packed(0x14);
  packed(0x15);
  for (unsigned o = 0x54; o <= 0x57; ++o) packed(o);
  for (unsigned o : {0x58u, 0x59u, 0x5cu, 0x5eu}) {
    packed(o, kAEr);
    scalar(o, kAEr);
  }
  for (unsigned o : {0x5du, 0x5fu}) {
    packed(o, kASae);
    scalar(o, kASae);
  }
  t.add(evex(0x51).np().w0().X(kMVl, kR).mz().bc4().er());
  t.add(evex(0x51).p66().w1().X(kMVl, kR).mz().bc8().er());
  scalar(0x51, kAEr);
  t.add(evex(0xc6).np().w0().nds().X(kMVl, kR).mz().bc4().ib());
  t.add(evex(0xc6).p66().w1().nds().X(kMVl, kR).mz().bc8().ib());
  t.add(evex(0xc2).np().w0().nds().X(kMVl, kR).G(kMask, kWr).mm().bc4().sae().ib());  // vcmp
  t.add(evex(0xc2).p66().w1().nds().X(kMVl, kR).G(kMask, kWr).mm().bc8().sae().ib());
  t.add(evex(0xc2).f3().w0().nds().X(kM4, kR).G(kMask, kWr).mm().sae().ib());
  t.add(evex(0xc2).f2().w1().nds().X(kM8, kR).G(kMask, kWr).mm().sae().ib());
  for (unsigned o : {0x2eu, 0x2fu}) {
    t.add(evex(o).np().w0().X(kM4, kR).sae().flags(Fx::kComis));
    t.add(evex(o).p66().w1().X(kM8, kR).sae().flags(Fx::kComis));
  }
}

template <int N>
constexpr void add_evex_0f_convert_rows(RowList<N>& t) {
  // Between general registers and scalars. Where a conversion is exact (a 32-bit integer to a double) there
  // is nothing to round, yet processors accept the rounding encoding.
  for (unsigned o : {0x2au, 0x7bu}) t.add(evex(o).pp(kPpF3 | kPpF2).nds().E(kY, kR).er());
  for (unsigned o : {0x2cu, 0x2du, 0x78u, 0x79u}) {
    const std::uint32_t attrs = (o & 1) != 0 ? kAEr : kASae;
    t.add(evex(o).f3().X(kM4, kR).G(kY, kWr).with(attrs));
    t.add(evex(o).f2().X(kM8, kR).G(kY, kWr).with(attrs));
  }
  t.add(evex(0x5a).np().w0().X(kMVl2, kR).mz().bc4().sae());
  t.add(evex(0x5a).p66().w1().X(kMVl, kR).mz().bc8().er());
  t.add(evex(0x5a).f3().w0().nds().X(kM4, kR).mz().sae());
  t.add(evex(0x5a).f2().w1().nds().X(kM8, kR).mz().er());
  t.add(evex(0x5b).np().w0().X(kMVl, kR).mz().bc4().er());
  t.add(evex(0x5b).np().w1().X(kMVl, kR).mz().bc8().er());
  t.add(evex(0x5b).p66().w0().X(kMVl, kR).mz().bc4().er());
  t.add(evex(0x5b).f3().w0().X(kMVl, kR).mz().bc4().sae());
  for (unsigned o : {0x78u, 0x79u}) {
    const std::uint32_t attrs = o == 0x79 ? kAEr : kASae;
    t.add(evex(o).np().w0().X(kMVl, kR).mz().bc4().with(attrs));
    t.add(evex(o).np().w1().X(kMVl, kR).mz().bc8().with(attrs));
  }
  for (unsigned o : {0x78u, 0x79u, 0x7au, 0x7bu}) {
    const std::uint32_t attrs = (o & 1) != 0 ? kAEr : kASae;
    t.add(evex(o).p66().w0().X(kMVl2, kR).mz().bc4().with(attrs));
    t.add(evex(o).p66().w1().X(kMVl, kR).mz().bc8().with(attrs));
  }
  for (unsigned o : {0x7au, 0xe6u}) {  // vcvtudq2pd, vcvtuqq2pd; vcvtdq2pd, vcvtqq2pd
    t.add(evex(o).f3().w0().X(kMVl2, kR).mz().bc4().er());
    t.add(evex(o).f3().w1().X(kMVl, kR).mz().bc8().er());
  }
  t.add(evex(0x7a).f2().w0().X(kMVl, kR).mz().bc4().er());
  t.add(evex(0x7a).f2().w1().X(kMVl, kR).mz().bc8().er());
  t.add(evex(0xe6).p66().w1().X(kMVl, kR).mz().bc8().sae());
  t.add(evex(0xe6).f2().w1().X(kMVl, kR).mz().bc8().er());
}

template <int N>
constexpr void add_evex_0f_integer_rows(RowList<N>& t) {
  const auto bytes = [&t](unsigned o, MemSize size = kMVl) { t.add(evex(o).p66().nds().X(size, kR).mz()); };
  const auto dwords = [&t](unsigned o) { t.add(evex(o).p66().w0().nds().X(kMVl, kR).mz().bc4()); };
  const auto qwords = [&t](unsigned o) { t.add(evex(o).p66().w1().nds().X(kMVl, kR).mz().bc8()); };
  for (unsigned o :
       {0x60u, 0x61u, 0x63u, 0x67u, 0x68u, 0x69u, 0xd5u, 0xd8u, 0xd9u, 0xdau, 0xdcu, 0xddu, 0xdeu, 0xe0u,
        0xe3u, 0xe4u, 0xe5u, 0xe8u, 0xe9u, 0xeau, 0xecu, 0xedu, 0xeeu, 0xf5u, 0xf8u, 0xf9u, 0xfcu, 0xfdu})
    bytes(o);
  for (unsigned o : {0x62u, 0x6au, 0x6bu, 0xdbu, 0xdfu, 0xebu, 0xefu, 0xfau, 0xfeu}) dwords(o);
  for (unsigned o : {0x6cu, 0x6du, 0xd4u, 0xdbu, 0xdfu, 0xebu, 0xefu, 0xf4u, 0xfbu}) qwords(o);
  // Comparisons into a mask.
  for (unsigned o : {0x64u, 0x65u, 0x74u, 0x75u}) t.add(evex(o).p66().nds().X(kMVl, kR).G(kMask, kWr).mm());
  for (unsigned o : {0x66u, 0x76u}) t.add(evex(o).p66().w0().nds().X(kMVl, kR).G(kMask, kWr).mm().bc4());
  // Shifts by a register.
  for (unsigned o : {0xd1u, 0xe1u, 0xf1u}) bytes(o, kM16);
  for (unsigned o : {0xd2u, 0xe2u, 0xf2u}) t.add(evex(o).p66().w0().nds().X(kM16, kR).mz());
  for (unsigned o : {0xd3u, 0xe2u, 0xf3u}) t.add(evex(o).p66().w1().nds().X(kM16, kR).mz());
  // Shifts by an immediate.
  const auto group = [](unsigned o, unsigned ext) { return evex(o).p66().ext(ext).nds().X(kMVl, kR).ib(); };
  for (unsigned i : {2u, 4u, 6u}) {
    t.add(group(0x71, i).mz());
    t.add(group(0x72, i).w0().mz().bc4());
  }
  for (unsigned i : {0u, 1u}) {  // vpror, vprol
    t.add(group(0x72, i).w0().mz().bc4());
    t.add(group(0x72, i).w1().mz().bc8());
  }
  t.add(group(0x72, 4).w1().mz().bc8());
  t.add(group(0x73, 2).w1().mz().bc8());
  t.add(group(0x73, 6).w1().mz().bc8());
  t.add(group(0x73, 3));
  t.add(group(0x73, 7));
  t.add(evex(0x70).p66().w0().X(kMVl, kR).mz().bc4().ib());
  t.add(evex(0x70).pp(kPpF3 | kPpF2).X(kMVl, kR).mz().ib());
  t.add(evex(0xf6).p66().nds().X(kMVl, kR));  // vpsadbw
}

template <int N>
constexpr void add_evex_0f38_rows(RowList<N>& t) {
  t.table = Table::kEvex0F38;
  const auto bytes = [](unsigned o) { return evex(o).p66().nds().X(kMVl, kR).mz(); };
  const auto dwords = [](unsigned o) { return evex(o).p66().w0().nds().X(kMVl, kR).mz().bc4(); };
  const auto qwords = [](unsigned o) { return evex(o).p66().w1().nds().X(kMVl, kR).mz().bc8(); };
  const auto both = [&t, &dwords, &qwords](unsigned o, std::uint32_t attrs = 0) {
    t.add(dwords(o).with(attrs));
    t.add(qwords(o).with(attrs));
  };
  const auto unary = [&t](unsigned o, std::uint32_t attrs = 0) {
    t.add(evex(o).p66().w0().X(kMVl, kR).mz().bc4().with(attrs));
    t.add(evex(o).p66().w1().X(kMVl, kR).mz().bc8().with(attrs));
  };
  const auto scalar = [&t](unsigned o, std::uint32_t attrs = 0) {
    t.add(evex(o).p66().nds().X(kMY, kR).mz().with(attrs));
  };
  for (unsigned o : {0x00u, 0x04u, 0x0bu, 0x38u, 0x3au, 0x3cu, 0x3eu}) t.add(bytes(o));
  t.add(dwords(0x0c));
  t.add(qwords(0x0d));
  for (unsigned o : {0x10u, 0x11u, 0x12u}) t.add(bytes(o).w1());  // vpsrlvw, vpsravw, vpsllvw
  t.add(evex(0x13).p66().w0().X(kMVl2, kR).mz().sae());           // vcvtph2ps
  both(0x14);
  both(0x15);
  t.add(dwords(0x16).l12());
  t.add(qwords(0x16).l12());
  // Down-conversions: unsigned saturating, signed saturating, truncating.
  constexpr MemSize kNarrow[6] = {kMVl2, kMVl4, kMVl8, kMVl2, kMVl4, kMVl2};
  for (unsigned i = 0; i < 6; ++i) {
    for (unsigned base : {0x10u, 0x20u, 0x30u}) t.add(evex(base + i).f3().w0().X(kNarrow[i], kWr).mz());
    for (unsigned base : {0x20u, 0x30u}) {  // vpmovsx, vpmovzx
      const Row row = evex(base + i).p66().X(kNarrow[i], kR).mz();
      t.add(i == 5 ? row.w0() : row);
    }
  }
  // Broadcasts.
  t.add(evex(0x18).p66().w0().X(kM4, kR).mz());
  t.add(evex(0x19).p66().l12().X(kM8, kR).mz());
  t.add(evex(0x1a).p66().l12().M(kM16, kR).mz());
  t.add(evex(0x1b).p66().l2().M(kM32, kR).mz());
  t.add(evex(0x58).p66().w0().X(kM4, kR).mz());
  t.add(evex(0x59).p66().X(kM8, kR).mz());
  t.add(evex(0x5a).p66().l12().M(kM16, kR).mz());
  t.add(evex(0x5b).p66().l2().M(kM32, kR).mz());
  t.add(evex(0x78).p66().w0().X(kM1, kR).mz());
  t.add(evex(0x79).p66().w0().X(kM2, kR).mz());
  t.add(evex(0x7a).p66().w0().R(kD, kR).mz());
  t.add(evex(0x7b).p66().w0().R(kD, kR).mz());
  t.add(evex(0x7c).p66().R(kY, kR).mz());
  t.add(evex(0x1c).p66().X(kMVl, kR).mz());  // vpabs
  t.add(evex(0x1d).p66().X(kMVl, kR).mz());
  t.add(evex(0x1e).p66().w0().X(kMVl, kR).mz().bc4());
  t.add(evex(0x1f).p66().w1().X(kMVl, kR).mz().bc8());
  // Masks.
  for (const std::uint32_t pp : {kPp66, kPpF3}) {  // vptestm, vptestnm
    t.add(evex(0x26).pp(pp).nds().X(kMVl, kR).G(kMask, kWr).mm());
    t.add(evex(0x27).pp(pp).w0().nds().X(kMVl, kR).G(kMask, kWr).mm().bc4());
    t.add(evex(0x27).pp(pp).w1().nds().X(kMVl, kR).G(kMask, kWr).mm().bc8());
  }
  for (unsigned o : {0x28u, 0x38u}) {
    t.add(evex(o).f3().R(kMask, kR));                     // vpmovm2b ...
    t.add(evex(o + 1).f3().R(kNoGpr, kR).G(kMask, kWr));  // vpmovb2m ...
  }
  t.add(evex(0x2a).f3().w1().R(kMask, kR));  // vpbroadcastmb2q
  t.add(evex(0x3a).f3().w0().R(kMask, kR));  // vpbroadcastmw2d
  t.add(qwords(0x28));
  t.add(evex(0x29).p66().w1().nds().X(kMVl, kR).G(kMask, kWr).mm().bc8());
  t.add(evex(0x37).p66().w1().nds().X(kMVl, kR).G(kMask, kWr).mm().bc8());
  t.add(evex(0x68).f2().w0().nds().X(kMVl, kR).G(kMask, kWr).bc4());  // vp2intersect
  t.add(evex(0x68).f2().w1().nds().X(kMVl, kR).G(kMask, kWr).bc8());
  t.add(evex(0x8f).p66().w0().nds().X(kMVl, kR).G(kMask, kWr).mm());  // vpshufbitqmb
  t.add(evex(0x2a).p66().w0().M(kMVl, kR));                           // vmovntdqa
  t.add(dwords(0x2b));
  both(0x2c, kAEr);  // vscalef
  scalar(0x2d, kAEr);
  t.add(dwords(0x36).l12());
  t.add(qwords(0x36).l12());
  for (unsigned o : {0x39u, 0x3bu, 0x3du, 0x3fu, 0x40u, 0x45u, 0x46u, 0x47u, 0x64u, 0x65u, 0x71u, 0x73u,
                     0x76u, 0x77u, 0x7eu, 0x7fu})
    both(o);
  unary(0x42, kASae);
  scalar(0x43, kASae);
  for (unsigned o : {0x44u, 0x4cu, 0x4eu, 0x55u, 0xc4u}) unary(o);
  scalar(0x4d);
  scalar(0x4f);
  for (unsigned o = 0x50; o <= 0x53; ++o) t.add(dwords(o));  // VNNI
  t.add(evex(0x52).f3().w0().nds().X(kMVl, kR).mz().bc4());  // vdpbf16ps
  for (unsigned o : {0x52u, 0x53u, 0x9au, 0xaau})
    t.add(evex(o).f2().w0().l2().nds().M(kM16, kR).mz());  // 4VNNIW, 4FMAPS
  for (unsigned o : {0x9bu, 0xabu}) t.add(evex(o).f2().w0().nds().M(kM16, kR).mz());
  t.add(evex(0x54).p66().X(kMVl, kR).mz());  // vpopcntb, vpopcntw
  for (unsigned o : {0x66u, 0x75u, 0x7du, 0x8du})
    t.add(bytes(o));  // vpblendmb, vpermi2b, vpermt2b, vpermb; words
  t.add(bytes(0x70).w1());
  t.add(bytes(0x72).w1());
  t.add(evex(0x72).f3().w0().X(kMVl, kR).mz().bc4());        // vcvtneps2bf16
  t.add(evex(0x72).f2().w0().nds().X(kMVl, kR).mz().bc4());  // vcvtne2ps2bf16
  t.add(qwords(0x83));
  // Expand and compress.
  t.add(evex(0x62).p66().X(kMVl, kR).mz().with(kAElemBw));
  t.add(evex(0x63).p66().X(kMVl, kWr).mz().with(kAElemBw));
  for (unsigned o : {0x88u, 0x89u}) {
    t.add(evex(o).p66().X(kMVl, kR).mz().with(kAElem));
    t.add(evex(o + 2).p66().X(kMVl, kWr).mz().with(kAElem));
  }
  // Gathers and scatters.
  for (unsigned i = 0; i < 4; ++i) {
    t.add(evex(0x90 + i).p66().M(kMY, kR).with(kAVsib | kAMaskM | kAMaskReq | kADistinct));
    t.add(evex(0xa0 + i).p66().M(kMY, kWr).with(kAVsib | kAMaskM | kAMaskReq));
  }
  for (unsigned o : {0xc6u, 0xc7u})
    for (unsigned i : {1u, 2u, 5u, 6u})
      t.add(evex(o).p66().l2().M(kMY, kAgen).ext(i).with(kAVsib | kAMaskM | kAMaskReq));
  for (unsigned base : {0x90u, 0xa0u, 0xb0u}) {  // FMA
    for (unsigned i = 6; i <= 15; ++i) {
      if (i > 8 && (i & 1) != 0) {
        scalar(base + i, kAEr);
      } else {
        both(base + i, kAEr);
      }
    }
  }
  t.add(qwords(0xb4));
  t.add(qwords(0xb5));
  for (unsigned o : {0xc8u, 0xcau, 0xccu}) {  // vexp2, vrcp28, vrsqrt28
    t.add(evex(o).p66().l2().w0().X(kMVl, kR).mz().bc4().sae());
    t.add(evex(o).p66().l2().w1().X(kMVl, kR).mz().bc8().sae());
  }
  scalar(0xcb, kASae);
  scalar(0xcd, kASae);
  t.add(bytes(0xcf).w0());
  for (unsigned o = 0xdc; o <= 0xdf; ++o) t.add(evex(o).p66().nds().X(kMVl, kR));
}

template <int N>
constexpr void add_evex_0f3a_rows(RowList<N>& t) {
  t.table = Table::kEvex0F3A;
  const auto row = [](unsigned o) { return evex(o).p66().ib(); };
  const auto both = [&t, &row](unsigned o, std::uint32_t attrs = 0) {
    t.add(row(o).w0().nds().X(kMVl, kR).mz().bc4().with(attrs));
    t.add(row(o).w1().nds().X(kMVl, kR).mz().bc8().with(attrs));
  };
  const auto unary = [&t, &row](unsigned o, std::uint32_t attrs) {
    t.add(row(o).w0().X(kMVl, kR).mz().bc4().with(attrs));
    t.add(row(o).w1().X(kMVl, kR).mz().bc8().with(attrs));
  };
  t.add(row(0x00).w1().l12().X(kMVl, kR).mz().bc8());
  t.add(row(0x01).w1().l12().X(kMVl, kR).mz().bc8());
  both(0x03);
  t.add(row(0x04).w0().X(kMVl, kR).mz().bc4());
  t.add(row(0x05).w1().X(kMVl, kR).mz().bc8());
  t.add(row(0x08).w0().X(kMVl, kR).mz().bc4().sae());  // vrndscale
  t.add(row(0x09).w1().X(kMVl, kR).mz().bc8().sae());
  t.add(row(0x0a).w0().nds().X(kM4, kR).mz().sae());
  t.add(row(0x0b).w1().nds().X(kM8, kR).mz().sae());
  t.add(row(0x0f).nds().X(kMVl, kR).mz());
  t.add(row(0x14).l0().E(kD, kM1, kWr));
  t.add(row(0x15).l0().E(kD, kM2, kWr));
  t.add(row(0x16).l0().E(kY, kWr));
  t.add(row(0x17).l0().E(kD, kWr));
  for (unsigned o : {0x18u, 0x38u}) {
    t.add(row(o).l12().nds().X(kM16, kR).mz());
    t.add(row(o + 1).l12().X(kM16, kWr).mz());
    t.add(row(o + 2).l2().nds().X(kM32, kR).mz());
    t.add(row(o + 3).l2().X(kM32, kWr).mz());
  }
  t.add(row(0x1d).w0().X(kMVl2, kWr).mz().sae());
  for (unsigned o : {0x1eu, 0x1fu}) {  // vpcmpud, vpcmpd
    t.add(row(o).w0().nds().X(kMVl, kR).G(kMask, kWr).mm().bc4());
    t.add(row(o).w1().nds().X(kMVl, kR).G(kMask, kWr).mm().bc8());
    t.add(row(o + 0x20).nds().X(kMVl, kR).G(kMask, kWr).mm());
  }
  t.add(row(0x20).l0().nds().E(kD, kM1, kR));
  t.add(row(0x21).w0().l0().nds().X(kM4, kR));
  t.add(row(0x22).l0().nds().E(kY, kR));
  for (unsigned o : {0x23u, 0x43u}) {  // vshuff, vshufi
    t.add(row(o).w0().l12().nds().X(kMVl, kR).mz().bc4());
    t.add(row(o).w1().l12().nds().X(kMVl, kR).mz().bc8());
  }
  both(0x25);
  unary(0x26, kASae);
  t.add(row(0x27).nds().X(kMY, kR).mz().sae());
  t.add(row(0x42).w0().nds().X(kMVl, kR).mz());
  t.add(row(0x44).nds().X(kMVl, kR));
  both(0x50, kASae);
  t.add(row(0x51).nds().X(kMY, kR).mz().sae());
  both(0x54, kASae);
  t.add(row(0x55).nds().X(kMY, kR).mz().sae());
  unary(0x56, kASae);
  t.add(row(0x57).nds().X(kMY, kR).mz().sae());
  t.add(row(0x66).w0().X(kMVl, kR).G(kMask, kWr).mm().bc4());
  t.add(row(0x66).w1().X(kMVl, kR).G(kMask, kWr).mm().bc8());
  t.add(row(0x67).X(kMY, kR).G(kMask, kWr).mm());
  for (unsigned o : {0x70u, 0x72u}) {
    t.add(row(o).w1().nds().X(kMVl, kR).mz());
    both(o + 1);
  }
  t.add(row(0xce).w1().nds().X(kMVl, kR).mz().bc8());
  t.add(row(0xcf).w1().nds().X(kMVl, kR).mz().bc8());
}

template <int N>
constexpr void add_evex_rows(RowList<N>& t) {
  t.table = Table::kEvex0F;
  add_evex_0f_move_rows(t);
  add_evex_0f_float_rows(t);
  add_evex_0f_convert_rows(t);
  add_evex_0f_integer_rows(t);
  add_evex_0f38_rows(t);
  add_evex_0f3a_rows(t);
  add_fp16_rows(t);
}

}  // namespace detrec::guest::tables
