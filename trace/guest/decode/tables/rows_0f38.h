// Rows of the three-byte opcode maps 0F 38 and 0F 3A in their legacy encoding (Intel SDM 2D tables ).
#pragma once

#include "trace/guest/decode/tables/row.h"

namespace detrec::guest::tables {

template <int N>
constexpr void add_0f38_rows(RowList<N>& t) {
  t.table = Table::k0F38;
  const auto sse = [&t](unsigned o, MemSize size = kM16) { t.add(op(o).p66().X(size, kR)); };
  for (unsigned o = 0x00; o <= 0x0b; ++o) {  // pshufb ... pmulhrsw
    t.add(op(o).np().X(kM8, kR));
    sse(o);
  }
  for (unsigned o : {0x10u, 0x14u, 0x15u}) sse(o);        // pblendvb, blendvps, blendvpd
  t.add(op(0x17).p66().X(kM16, kR).flags(Fx::kZfRest0));  // ptest
  for (unsigned o : {0x1cu, 0x1du, 0x1eu}) {              // pabs
    t.add(op(o).np().X(kM8, kR));
    sse(o);
  }
  constexpr MemSize kExtend[6] = {kM8, kM4, kM2, kM8, kM4, kM8};
  for (unsigned i = 0; i < 6; ++i) {
    sse(0x20 + i, kExtend[i]);  // pmovsx
    sse(0x30 + i, kExtend[i]);  // pmovzx
  }
  sse(0x28);
  sse(0x29);
  t.add(op(0x2a).p66().M(kM16, kR));  // movntdqa
  sse(0x2b);
  for (unsigned o = 0x37; o <= 0x41; ++o) sse(o);
  for (unsigned o : {0x80u, 0x81u, 0x82u})  // invept, invvpid, invpcid
    t.add(op(o)
              .p66()
              .M(kM16, kR)
              .G(kQ, kR)
              .f64()
              .special(Special::kPrivileged)
              .flags(o == 0x82 ? Fx::kNone : Fx::kZfRest0));
  for (unsigned o = 0xc8; o <= 0xcd; ++o) t.add(op(o).np().X(kM16, kR));  // sha
  sse(0xcf);                                                              // gf2p8mulb
  for (unsigned o = 0xdb; o <= 0xdf; ++o) sse(o);                         // aes
  // Key locker.
  const auto kl = [](unsigned o) { return op(o).f3().special(Special::kKeyLocker); };
  t.add(kl(0xd8).M(kM48, kR).ext(0).flags(Fx::kKeyLocker));
  t.add(kl(0xd8).M(kM64, kR).ext(2).flags(Fx::kKeyLocker));
  t.add(kl(0xd8).M(kM48, kR).ext(1).flags(Fx::kKeyLocker));
  t.add(kl(0xd8).M(kM64, kR).ext(3).flags(Fx::kKeyLocker));
  t.add(op(0xdc).f3().reg_only().special(Special::kPrivileged).flags(Fx::kZfRest0));  // loadiwkey
  t.add(kl(0xdc).M(kM48, kR).flags(Fx::kKeyLocker));
  t.add(kl(0xdd).M(kM48, kR).flags(Fx::kKeyLocker));
  t.add(kl(0xde).M(kM64, kR).flags(Fx::kKeyLocker));
  t.add(kl(0xdf).M(kM64, kR).flags(Fx::kKeyLocker));
  t.add(kl(0xfa).R(kD, kR).G(kD, kWr).flags(Fx::kKeyLocker));  // encodekey128
  t.add(kl(0xfb).R(kD, kR).G(kD, kWr).flags(Fx::kKeyLocker));  // encodekey256

  t.add(op(0xf0).np66().M(kMV, kR).G(kV, kWr));  // movbe
  t.add(op(0xf1).np66().M(kMV, kWr).G(kV, kR));
  t.add(op(0xf0).f2().E(kB, kR).G(kY, kRw));  // crc32
  t.add(op(0xf1).f2().E(kV, kR).G(kY, kRw));
  t.add(op(0xf5).p66().M(kMY, kWr).G(kY, kR).special(Special::kShadowStack));  // wrussd
  t.add(op(0xf6).np().M(kMY, kWr).G(kY, kR).special(Special::kShadowStack));   // wrssd
  t.add(op(0xf6).p66().E(kY, kR).G(kY, kRw).flags(Fx::kAdcx));
  t.add(op(0xf6).f3().E(kY, kR).G(kY, kRw).flags(Fx::kAdox));
  t.add(op(0xf8).p66().M(kM64, kR).G(kQ, kR).implicit(Im::kDirectStore));
  t.add(op(0xf8)
            .f3()
            .M(kM64, kR)
            .G(kQ, kR)
            .implicit(Im::kDirectStore)
            .flags(Fx::kZfRest0)
            .special(Special::kPrivileged));
  t.add(op(0xf8)
            .f2()
            .M(kM64, kR)
            .G(kQ, kR)
            .implicit(Im::kDirectStore)
            .flags(Fx::kZfRest0)
            .special(Special::kEnqcmd));
  t.add(op(0xf9).np().M(kMY, kWr).G(kY, kR));          // movdiri
  t.add(op(0xfc).M(kMY, kRw).G(kY, kR).with(kANo66));  // RAO-INT: aadd aand aor axor
}

template <int N>
constexpr void add_0f3a_rows(RowList<N>& t) {
  t.table = Table::k0F3A;
  const auto sse = [](unsigned o) { return op(o).p66().ib(); };
  t.add(sse(0x08).X(kM16, kR));  // roundps
  t.add(sse(0x09).X(kM16, kR));
  t.add(sse(0x0a).X(kM4, kR));
  t.add(sse(0x0b).X(kM8, kR));
  for (unsigned o : {0x0cu, 0x0du, 0x0eu}) t.add(sse(o).X(kM16, kR));  // blendps, blendpd, pblendw
  t.add(op(0x0f).np().X(kM8, kR).ib());                                // palignr
  t.add(sse(0x0f).X(kM16, kR));
  t.add(sse(0x14).E(kD, kM1, kWr));                                           // pextrb
  t.add(sse(0x15).E(kD, kM2, kWr));                                           // pextrw
  t.add(sse(0x16).E(kY, kWr));                                                // pextrd, pextrq
  t.add(sse(0x17).E(kD, kWr));                                                // extractps
  t.add(sse(0x20).E(kD, kM1, kR));                                            // pinsrb
  t.add(sse(0x21).X(kM4, kR));                                                // insertps
  t.add(sse(0x22).E(kY, kR));                                                 // pinsrd, pinsrq
  for (unsigned o : {0x40u, 0x41u, 0x42u, 0x44u}) t.add(sse(o).X(kM16, kR));  // dpps dppd mpsadbw pclmulqdq
  t.add(sse(0x60).X(kM16, kR).implicit(Im::kDxAxR).flags(Fx::kPopcnt));
  t.add(sse(0x61).X(kM16, kR).implicit(Im::kDxAxToCx).flags(Fx::kPopcnt));
  t.add(sse(0x62).X(kM16, kR).flags(Fx::kPopcnt));
  t.add(sse(0x63).X(kM16, kR).implicit(Im::kCxW).flags(Fx::kPopcnt));
  t.add(op(0xcc).np().X(kM16, kR).ib());                                // sha1rnds4
  t.add(sse(0xce).X(kM16, kR));                                         // gf2p8affineqb
  t.add(sse(0xcf).X(kM16, kR));                                         // gf2p8affineinvqb
  t.add(sse(0xdf).X(kM16, kR));                                         // aeskeygenassist
  t.add(op(0xf0).f3().exact(0xc0).ib().special(Special::kPrivileged));  // hreset
}

}  // namespace detrec::guest::tables
