// Rows of AVX512-FP16: EVEX maps 5 and 6 and the FP16 rows of map 0F 3A (Intel AVX512-FP16 specification,
// chapter 5).
#pragma once

#include "trace/guest/decode/tables/row.h"

namespace detrec::guest::tables {

/// EVEX rows begin with 128, 256 or 512 bits allowed, unmasked.
constexpr Row evex(unsigned opcode) { return op(opcode).only(kLMask, 7u << kLShift); }

template <int N>
constexpr void add_fp16_map5_rows(RowList<N>& t) {
  t.table = Table::kEvex5;
  const auto row = [](unsigned o) { return evex(o).w0(); };
  t.add(row(0x10).f3().M(kM2, kR).mz());  // vmovsh
  t.add(row(0x10).f3().reg_only().nds().mz());
  t.add(row(0x11).f3().M(kM2, kWr).mz());
  t.add(row(0x11).f3().reg_only().nds().mz());
  t.add(evex(0x6e).p66().l0().E(kD, kM2, kR));  // vmovw
  t.add(evex(0x7e).p66().l0().E(kD, kM2, kWr));
  for (unsigned o : {0x2eu, 0x2fu}) t.add(row(o).np().X(kM2, kR).sae().flags(Fx::kComis));
  t.add(row(0x51).np().X(kMVl, kR).mz().bc2().er());
  t.add(row(0x51).f3().nds().X(kM2, kR).mz().er());
  for (unsigned o : {0x58u, 0x59u, 0x5cu, 0x5du, 0x5eu, 0x5fu}) {
    const std::uint32_t attrs = o == 0x5d || o == 0x5f ? kASae : kAEr;
    t.add(row(o).np().nds().X(kMVl, kR).mz().bc2().with(attrs));
    t.add(row(o).f3().nds().X(kM2, kR).mz().with(attrs));
  }
  // Conversions.
  t.add(row(0x1d).np().nds().X(kM4, kR).mz().er());    // vcvtss2sh
  t.add(row(0x1d).p66().X(kMVl, kR).mz().bc4().er());  // vcvtps2phx
  t.add(evex(0x2a).f3().nds().E(kY, kR).er());         // vcvtsi2sh
  t.add(evex(0x7b).f3().nds().E(kY, kR).er());         // vcvtusi2sh
  for (unsigned o : {0x2cu, 0x2du, 0x78u, 0x79u})      // vcvttsh2si, vcvtsh2si; usi
    t.add(evex(o).f3().X(kM2, kR).G(kY, kWr).with((o & 1) != 0 ? kAEr : kASae));
  t.add(row(0x5a).np().X(kMVl4, kR).mz().bc2().sae());       // vcvtph2pd
  t.add(evex(0x5a).p66().w1().X(kMVl, kR).mz().bc8().er());  // vcvtpd2ph
  t.add(row(0x5a).f3().nds().X(kM2, kR).mz().sae());         // vcvtsh2sd
  t.add(evex(0x5a).f2().w1().nds().X(kM8, kR).mz().er());    // vcvtsd2sh
  t.add(row(0x5b).np().X(kMVl, kR).mz().bc4().er());         // vcvtdq2ph
  t.add(evex(0x5b).np().w1().X(kMVl, kR).mz().bc8().er());   // vcvtqq2ph
  t.add(row(0x5b).p66().X(kMVl2, kR).mz().bc2().er());       // vcvtph2dq
  t.add(row(0x5b).f3().X(kMVl2, kR).mz().bc2().sae());       // vcvttph2dq
  t.add(row(0x7a).f2().X(kMVl, kR).mz().bc4().er());         // vcvtudq2ph
  t.add(evex(0x7a).f2().w1().X(kMVl, kR).mz().bc8().er());   // vcvtuqq2ph
  t.add(row(0x78).np().X(kMVl2, kR).mz().bc2().sae());       // vcvttph2udq
  t.add(row(0x79).np().X(kMVl2, kR).mz().bc2().er());        // vcvtph2udq
  for (unsigned o : {0x78u, 0x79u, 0x7au, 0x7bu})            // vcvt(t)ph2uqq, vcvt(t)ph2qq
    t.add(row(o).p66().X(kMVl4, kR).mz().bc2().with((o & 1) != 0 ? kAEr : kASae));
  t.add(row(0x7c).np66().X(kMVl, kR).mz().bc2().sae());  // vcvttph2uw, vcvttph2w
  t.add(row(0x7d).X(kMVl, kR).mz().bc2().er());          // vcvtph2uw, vcvtph2w, vcvtw2ph, vcvtuw2ph
}

template <int N>
constexpr void add_fp16_map6_rows(RowList<N>& t) {
  t.table = Table::kEvex6;
  const auto row = [](unsigned o) { return evex(o).w0().p66(); };
  t.add(row(0x13).X(kMVl2, kR).mz().bc2().sae());      // vcvtph2psx
  t.add(row(0x13).np().nds().X(kM2, kR).mz().sae());   // vcvtsh2ss
  t.add(row(0x2c).nds().X(kMVl, kR).mz().bc2().er());  // vscalef
  t.add(row(0x2d).nds().X(kM2, kR).mz().er());
  t.add(row(0x42).X(kMVl, kR).mz().bc2().sae());  // vgetexp
  t.add(row(0x43).nds().X(kM2, kR).mz().sae());
  for (unsigned o : {0x4cu, 0x4eu}) {  // vrcp, vrsqrt
    t.add(row(o).X(kMVl, kR).mz().bc2());
    t.add(row(o + 1).nds().X(kM2, kR).mz());
  }
  for (unsigned o : {0x56u, 0xd6u}) {  // complex multiplication
    const Row complex = evex(o).w0().pp(kPpF3 | kPpF2).nds().mz().er().with(kADistinct);
    t.add(complex.X(kMVl, kR).bc4());
    Row scalar = complex.X(kM4, kR);
    scalar.opcode = static_cast<std::uint8_t>(o + 1);
    t.add(scalar);
  }
  for (unsigned base : {0x90u, 0xa0u, 0xb0u}) {  // FMA
    for (unsigned i = 6; i <= 15; ++i) {
      const Row fma = row(base + i).nds().mz().er();
      t.add(i > 8 && (i & 1) != 0 ? fma.X(kM2, kR) : fma.X(kMVl, kR).bc2());
    }
  }
}

template <int N>
constexpr void add_fp16_rows(RowList<N>& t) {
  t.table = Table::kEvex0F3A;
  const auto row = [](unsigned o) { return evex(o).w0().np().ib(); };
  t.add(row(0x08).X(kMVl, kR).mz().bc2().sae());  // vrndscale
  t.add(row(0x0a).nds().X(kM2, kR).mz().sae());
  t.add(row(0x26).X(kMVl, kR).mz().bc2().sae());  // vgetmant
  t.add(row(0x27).nds().X(kM2, kR).mz().sae());
  t.add(row(0x56).X(kMVl, kR).mz().bc2().sae());  // vreduce
  t.add(row(0x57).nds().X(kM2, kR).mz().sae());
  t.add(row(0x66).X(kMVl, kR).G(kMask, kWr).mm().bc2());  // vfpclass
  t.add(row(0x67).X(kM2, kR).G(kMask, kWr).mm());
  t.add(row(0xc2).nds().X(kMVl, kR).G(kMask, kWr).mm().bc2().sae());  // vcmp
  t.add(row(0xc2).f3().nds().X(kM2, kR).G(kMask, kWr).mm().sae());
  add_fp16_map5_rows(t);
  add_fp16_map6_rows(t);
}

}  // namespace detrec::guest::tables
