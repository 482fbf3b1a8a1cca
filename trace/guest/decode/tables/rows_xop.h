// Rows of AMD's XOP encodings: XOP, TBM, LWP (AMD APM 3 and 4, appendix A).
#pragma once

#include "trace/guest/decode/tables/row.h"

namespace detrec::guest::tables {

constexpr Row xop(unsigned opcode) { return op(opcode).np().l0(); }

template <int N>
constexpr void add_xop_rows(RowList<N>& t) {
  t.table = Table::kXop8;
  for (unsigned o : {0x85u, 0x86u, 0x87u, 0x8eu, 0x8fu, 0x95u, 0x96u, 0x97u, 0x9eu, 0x9fu, 0xa6u, 0xb6u})
    t.add(xop(o).w0().nds().X(kM16, kR).ib());                          // vpmacs ...
  t.add(xop(0xa2).only(kLMask, 3u << kLShift).nds().X(kMVl, kR).ib());  // vpcmov
  t.add(xop(0xa3).nds().X(kM16, kR).ib());                              // vpperm
  for (unsigned i = 0; i < 4; ++i) {
    t.add(xop(0xc0 + i).w0().X(kM16, kR).ib());        // vprot
    t.add(xop(0xcc + i).w0().nds().X(kM16, kR).ib());  // vpcom
    t.add(xop(0xec + i).w0().nds().X(kM16, kR).ib());  // vpcomu
  }

  t.table = Table::kXop9;
  for (unsigned i = 1; i < 8; ++i) t.add(xop(0x01).ext(i).E(kY, kR).V(kY, kWr).flags(Fx::kTbm));
  for (unsigned i : {1u, 6u}) t.add(xop(0x02).ext(i).E(kY, kR).V(kY, kWr).flags(Fx::kTbm));
  t.add(xop(0x12).ext(0).R(kY, kR));   // llwpcb
  t.add(xop(0x12).ext(1).R(kY, kWr));  // slwpcb
  t.add(xop(0x80).w0().only(kLMask, 3u << kLShift).X(kMVl, kR));
  t.add(xop(0x81).w0().only(kLMask, 3u << kLShift).X(kMVl, kR));
  t.add(xop(0x82).w0().X(kM4, kR));
  t.add(xop(0x83).w0().X(kM8, kR));
  for (unsigned o = 0x90; o <= 0x9b; ++o)
    t.add(xop(o).nds().X(kM16, kR));  // vprot, vpshl, vpsha; W exchanges sources
  for (unsigned o : {0xc1u, 0xc2u, 0xc3u, 0xc6u, 0xc7u, 0xcbu, 0xd1u, 0xd2u, 0xd3u, 0xd6u, 0xd7u, 0xdbu,
                     0xe1u, 0xe2u, 0xe3u})
    t.add(xop(o).w0().X(kM16, kR));  // vphadd, vphsub

  t.table = Table::kXopA;
  t.add(xop(0x10).E(kY, kR).G(kY, kWr).imm(Imm::kId).flags(Fx::kBextr));
  t.add(xop(0x12).ext(0).E(kD, kR).V(kY, kR).imm(Imm::kId).flags(Fx::kCf));  // lwpins
  t.add(xop(0x12).ext(1).E(kD, kR).V(kY, kR).imm(Imm::kId));                 // lwpval
}

}  // namespace detrec::guest::tables
