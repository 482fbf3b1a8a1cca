// Rows of the two-byte opcode map 0F (Intel SDM 2D table A-3; AMD's additions from APM 3).
#pragma once

#include "trace/guest/decode/tables/row.h"

namespace detrec::guest::tables {

template <int N>
constexpr void add_0f_system_rows(RowList<N>& t) {
  const auto priv = [](unsigned opcode) { return op(opcode).special(Special::kPrivileged); };
  // 0F 00.
  t.add(op(0x00).ext(0).E(kV, kM2, kWr).special(Special::kSldt));
  t.add(op(0x00).ext(1).E(kV, kM2, kWr).special(Special::kStr));
  t.add(priv(0x00).ext(2).E(kW, kR));  // lldt
  t.add(priv(0x00).ext(3).E(kW, kR));  // ltr
  t.add(op(0x00).ext(4).E(kW, kR).flags(Fx::kZf).special(Special::kVerr));
  t.add(op(0x00).ext(5).E(kW, kR).flags(Fx::kZf).special(Special::kVerw));
  // 0F 01, memory forms.
  t.add(op(0x01).M(kM10, kWr).ext(0).special(Special::kSgdt));
  t.add(op(0x01).M(kM10, kWr).ext(1).special(Special::kSidt));
  t.add(priv(0x01).M(kM10, kR).ext(2));  // lgdt
  t.add(priv(0x01).M(kM10, kR).ext(3));  // lidt
  t.add(op(0x01).ext(4).E(kV, kM2, kWr).special(Special::kSmsw));
  t.add(op(0x01).M(kM8, kRw).ext(5).f3().flags(Fx::kCfRest0).special(Special::kShadowStack));  // rstorssp
  t.add(priv(0x01).ext(6).E(kW, kR));                                                          // lmsw
  t.add(priv(0x01).M(kMNone, kAgen).ext(7));                                                   // invlpg
  // 0F 01, register forms.
  t.add(priv(0x01).exact(0xc0).np());  // enclv
  t.add(priv(0x01).exact(0xc1).np());  // vmcall
  t.add(priv(0x01).exact(0xc2).np());  // vmlaunch
  t.add(priv(0x01).exact(0xc3).np());  // vmresume
  t.add(priv(0x01).exact(0xc4).np());  // vmxoff
  t.add(priv(0x01).exact(0xc5).np());
  t.add(priv(0x01).exact(0xc8).np());
  t.add(priv(0x01).exact(0xc9).np());
  t.add(priv(0x01).exact(0xca).np());                 // clac
  t.add(priv(0x01).exact(0xcb).np());                 // stac
  t.add(priv(0x01).exact(0xcc).p66());                // tdcall
  t.add(priv(0x01).exact(0xcd).p66());                // seamret
  t.add(priv(0x01).exact(0xce).p66());                // seamops
  t.add(priv(0x01).exact(0xcf).pp(kPpNone | kPp66));  // encls, seamcall
  t.add(op(0x01).exact(0xd0).np().implicit(Im::kCxToDxAx).special(Special::kXgetbv));
  t.add(priv(0x01).exact(0xd1).np());
  t.add(priv(0x01).exact(0xd4).np());
  t.add(op(0x01).exact(0xd5).np().special(Special::kXend));
  t.add(op(0x01).exact(0xd6).np().flags(Fx::kZfRest0).special(Special::kXtest));
  t.add(op(0x01).exact(0xd7).np().implicit(Im::kEnclu).special(Special::kEnclu));
  t.add(priv(0x01).exact(0xd8));     // vmrun
  t.add(priv(0x01).exact(0xd9));     // vmmcall
  t.add(priv(0x01).exact(0xda));     // vmload
  t.add(priv(0x01).exact(0xdb));     // vmsave
  t.add(priv(0x01).exact(0xdc));     // stgi
  t.add(priv(0x01).exact(0xdd));     // clgi
  t.add(priv(0x01).exact(0xde));     // skinit
  t.add(priv(0x01).exact(0xdf));     // invlpga
  t.add(op(0x01).exact(0xe8).np());  // serialize
  t.add(op(0x01).exact(0xe8).f2().special(Special::kXsusldtrk));
  t.add(op(0x01).exact(0xe8).f3().special(Special::kShadowStack));  // setssbsy
  t.add(op(0x01).exact(0xe9).f2().special(Special::kXsusldtrk));    // xresldtrk
  t.add(op(0x01).exact(0xea).f3().special(Special::kShadowStack));  // saveprevssp
  t.add(op(0x01).exact(0xec).f3().implicit(Im::kUiret).flags(Fx::kPopf).special(Special::kUintr));
  t.add(op(0x01).exact(0xed).f3().flags(Fx::kCfRest0).special(Special::kUintr));  // testui
  t.add(op(0x01).exact(0xee).f3().special(Special::kUintr));                      // clui
  t.add(op(0x01).exact(0xee).np().implicit(Im::kCxToDxAx).special(Special::kRdpkru));
  t.add(op(0x01).exact(0xef).f3().special(Special::kUintr));  // stui
  t.add(op(0x01).exact(0xef).np().implicit(Im::kDxAxCxR).special(Special::kWrpkru));
  t.add(priv(0x01).exact(0xf8));
  t.add(op(0x01).exact(0xf9).implicit(Im::kDxAxCxW).special(Special::kRdtscp));
  t.add(op(0x01).exact(0xfa).np().implicit(Im::kDxAxCxR).special(Special::kMonitorx));
  t.add(op(0x01).exact(0xfb).np().implicit(Im::kMwaitx).special(Special::kMwaitx));
  t.add(op(0x01).exact(0xfc).implicit(Im::kClzero));
  t.add(op(0x01).exact(0xfd).implicit(Im::kCxToDxAx).flags(Fx::kCfRest0).special(Special::kRdpru));
  t.add(priv(0x01).exact(0xfa).f3().flags(Fx::kCfRest0));  // mcommit
  t.add(priv(0x01).exact(0xfe).np());
  t.add(priv(0x01).exact(0xfe).f3().flags(Fx::kCfRest0));  // rmpadjust
  t.add(priv(0x01).exact(0xfe).f2().flags(Fx::kCfRest0));  // rmpupdate
  t.add(priv(0x01).exact(0xff).np());                      // tlbsync
  t.add(priv(0x01).exact(0xff).f3().flags(Fx::kCfRest0));
  t.add(priv(0x01).exact(0xff).f2().flags(Fx::kCfRest0));

  t.add(op(0x02).E(kV, kM2, kR).G(kV, kRw).flags(Fx::kZf).special(Special::kLar));
  t.add(op(0x03).E(kV, kM2, kR).G(kV, kRw).flags(Fx::kZf).special(Special::kLsl));
  t.add(op(0x05)
            .implicit(Im::kSyscall)
            .flags(Fx::kSyscall)
            .branch(Branch::kSyscall)
            .special(Special::kSyscall));
  t.add(priv(0x06));                         // clts
  t.add(priv(0x07).flags(Fx::kPopf));        // sysret
  t.add(priv(0x08));                         // invd
  t.add(priv(0x09));                         // wbinvd, wbnoinvd
  t.add(op(0x0b).special(Special::kUd));     // ud2
  t.add(op(0x0d).E(kNoGpr, kMNone, kAgen));  // prefetch, prefetchw ...; nop
  for (unsigned i : {0u, 1u, 2u, 3u}) {
    const bool cr = (i & 1) == 0;
    const Row row = op(0x20 + i).with(kAForceReg).f64().special(Special::kPrivileged);
    t.add(row.E(kQ, kMNone, i < 2 ? kWr : kR).G(cr ? kCr : kDr, i < 2 ? kR : kWr));
  }
  t.add(priv(0x30));
  t.add(op(0x31).implicit(Im::kDxAxW).special(Special::kRdtsc));
  t.add(priv(0x32));
  t.add(op(0x33).implicit(Im::kCxToDxAx).special(Special::kRdpmc));
  t.add(op(0x34).special(Special::kSysenter));
  t.add(priv(0x35));
  t.add(priv(0x37).np());
  t.add(priv(0x78).np().E(kQ, kWr).G(kQ, kR).f64().flags(Fx::kZfRest0));  // vmread
  t.add(priv(0x79).np().E(kQ, kR).G(kQ, kR).f64().flags(Fx::kZfRest0));   // vmwrite
  t.add(op(0xa2).implicit(Im::kCpuid).special(Special::kCpuid));
  t.add(priv(0xaa).flags(Fx::kPopf));  // rsm
}

template <int N>
constexpr void add_0f_integer_rows(RowList<N>& t) {
  // 0F 18..1F: hints. Their memory operand is not accessed, their registers are not read.
  for (unsigned o = 0x18; o <= 0x1f; ++o) t.add(op(o).E(kNoGpr, kMNone, kAgen));
  for (unsigned i = 0; i < 16; ++i) {
    t.add(op(0x40 + i).E(kV, kR).G(kV, kWr).flags(Fx::kCc).with(kACondW));
    t.add(op(0x80 + i).imm(Imm::kRel32).branch(Branch::kJccRel).flags(Fx::kCc).f64());
    t.add(op(0x90 + i).E(kB, kWr).flags(Fx::kCc).byte());
  }
  t.add(op(0xa0).d64().implicit(Im::kPush));                             // push fs
  t.add(op(0xa1).d64().implicit(Im::kPop).special(Special::kMovSeg));    // pop fs
  t.add(op(0xa8).d64().implicit(Im::kPush));                             // push gs
  t.add(op(0xa9).d64().implicit(Im::kPop).special(Special::kMovSeg));    // pop gs
  t.add(op(0xa3).E(kV, kR).G(kV, kR).flags(Fx::kBt).with(kABitString));  // bt
  t.add(op(0xab).E(kV, kRw).G(kV, kR).flags(Fx::kBt).with(kABitString).lock());
  t.add(op(0xb3).E(kV, kRw).G(kV, kR).flags(Fx::kBt).with(kABitString).lock());
  t.add(op(0xbb).E(kV, kRw).G(kV, kR).flags(Fx::kBt).with(kABitString).lock());
  t.add(op(0xba).ext(4).E(kV, kR).flags(Fx::kBt).imm(Imm::kIbU));
  for (unsigned i = 5; i < 8; ++i) t.add(op(0xba).ext(i).E(kV, kRw).flags(Fx::kBt).imm(Imm::kIbU).lock());
  t.add(op(0xa4).E(kV, kRw).G(kV, kR).flags(Fx::kShift).imm(Imm::kIbU).with(kAShift));  // shld
  t.add(op(0xa5).E(kV, kRw).G(kV, kR).flags(Fx::kShift).implicit(Im::kCxR));
  t.add(op(0xac).E(kV, kRw).G(kV, kR).flags(Fx::kShift).imm(Imm::kIbU).with(kAShift));  // shrd
  t.add(op(0xad).E(kV, kRw).G(kV, kR).flags(Fx::kShift).implicit(Im::kCxR));
  t.add(op(0xaf).E(kV, kR).G(kV, kRw).flags(Fx::kMul));
  t.add(op(0xb0).E(kB, kRw).G(kB, kR).flags(Fx::kAdd).byte().implicit(Im::kAccRw).lock());
  t.add(op(0xb1).E(kV, kRw).G(kV, kR).flags(Fx::kAdd).implicit(Im::kAccRw).lock());
  t.add(op(0xb2).M(kMFar, kR).G(kV, kWr).special(Special::kMovSeg));
  t.add(op(0xb4).M(kMFar, kR).G(kV, kWr).special(Special::kMovSeg));
  t.add(op(0xb5).M(kMFar, kR).G(kV, kWr).special(Special::kMovSeg));
  t.add(op(0xb6).E(kB, kR).G(kV, kWr));
  t.add(op(0xb7).E(kW, kR).G(kV, kWr));
  t.add(op(0xbe).E(kB, kR).G(kV, kWr));
  t.add(op(0xbf).E(kW, kR).G(kV, kWr));
  t.add(op(0xb8).f3().E(kV, kR).G(kV, kWr).flags(Fx::kPopcnt));
  t.add(op(0xb9).E(kNoGpr, kMV, kAgen).special(Special::kUd));  // ud1
  t.add(op(0xff).E(kNoGpr, kMV, kAgen).special(Special::kUd));  // ud0
  t.add(op(0xbc).f3().E(kV, kR).G(kV, kWr).flags(Fx::kLzcnt));  // tzcnt
  t.add(op(0xbc).pp(kPpNone | kPp66 | kPpF2).E(kV, kR).G(kV, kWr).flags(Fx::kBsf).with(kACondW));
  t.add(op(0xbd).f3().E(kV, kR).G(kV, kWr).flags(Fx::kLzcnt));  // lzcnt
  t.add(op(0xbd).pp(kPpNone | kPp66 | kPpF2).E(kV, kR).G(kV, kWr).flags(Fx::kBsf).with(kACondW));
  t.add(op(0xc0).E(kB, kRw).G(kB, kRw).flags(Fx::kAdd).byte().lock());  // xadd
  t.add(op(0xc1).E(kV, kRw).G(kV, kRw).flags(Fx::kAdd).lock());
  t.add(op(0xc3).np().M(kMY, kWr).G(kY, kR).with(kANo66));          // movnti
  for (unsigned i = 0; i < 8; ++i) t.add(op(0xc8 + i).Z(kV, kRw));  // bswap

  // Group 9.
  t.add(op(0xc7).M(kM2Y, kRw).ext(1).implicit(Im::kCmpxchg8b).flags(Fx::kZf).lock());
  t.add(op(0xc7).M(kMState, kR).ext(3).np().special(Special::kPrivileged));                   // xrstors
  t.add(op(0xc7).M(kMState, kWr).ext(4).np().implicit(Im::kDxAxR).special(Special::kXsave));  // xsavec
  t.add(op(0xc7).M(kMState, kWr).ext(5).np().special(Special::kPrivileged));                  // xsaves
  t.add(
      op(0xc7).M(kM8, kR).ext(6).pp(kPpNone | kPp66 | kPpF3).special(Special::kPrivileged));  // vmptrld
                                                                                              // vmclear vmxon
  t.add(op(0xc7).M(kM8, kWr).ext(7).np().special(Special::kPrivileged));                      // vmptrst
  t.add(op(0xc7).reg_only().ext(6).np66().R(kV, kWr).flags(Fx::kCfRest0).special(Special::kRdrand));
  t.add(op(0xc7).reg_only().ext(7).np66().R(kV, kWr).flags(Fx::kCfRest0).special(Special::kRdseed));
  t.add(op(0xc7).reg_only().ext(6).f3().R(kQ, kR).f64().special(Special::kUintr));  // senduipi
  t.add(op(0xc7).reg_only().ext(7).f3().R(kQ, kWr).f64().special(Special::kRdpid));

  // Group 15.
  t.add(op(0xae).M(kM512, kWr).ext(0).np().special(Special::kFxsave));
  t.add(op(0xae).M(kM512, kR).ext(1).np().special(Special::kFxrstor));
  t.add(op(0xae).M(kM4, kR).ext(2).np());   // ldmxcsr
  t.add(op(0xae).M(kM4, kWr).ext(3).np());  // stmxcsr
  t.add(op(0xae).M(kMState, kRw).ext(4).np().implicit(Im::kDxAxR).special(Special::kXsave));
  t.add(op(0xae).M(kMState, kR).ext(5).np().implicit(Im::kDxAxR).special(Special::kXrstor));
  t.add(op(0xae).M(kMState, kRw).ext(6).np().implicit(Im::kDxAxR).special(Special::kXsave));   // xsaveopt
  t.add(op(0xae).M(kMNone, kAgen).ext(7).np());                                                // clflush
  t.add(op(0xae).M(kMNone, kAgen).ext(6).p66());                                               // clwb
  t.add(op(0xae).M(kMNone, kAgen).ext(7).p66());                                               // clflushopt
  t.add(op(0xae).M(kM8, kRw).ext(6).f3().flags(Fx::kCfRest0).special(Special::kShadowStack));  // clrssbsy
  t.add(op(0xae).ext(4).f3().E(kY, kR).with(kACheck | kARefuse66));                            // ptwrite
  t.add(op(0xae).ext(0).f3().R(kY, kWr).special(Special::kRdfsbase));
  t.add(op(0xae).ext(1).f3().R(kY, kWr).special(Special::kRdgsbase));
  t.add(op(0xae).ext(2).f3().R(kY, kR).special(Special::kWrfsbase));
  t.add(op(0xae).ext(3).f3().R(kY, kR).special(Special::kWrgsbase));
  t.add(op(0xae).ext(5).f3().R(kY, kR).special(Special::kShadowStack));  // incssp
  t.add(op(0xae).ext(6).f3().R(kQ, kR).special(Special::kUmonitor));
  t.add(op(0xae).ext(6).f2().R(kD, kR).implicit(Im::kDxAxR).flags(Fx::kCfRest0).special(Special::kUmwait));
  t.add(op(0xae).ext(6).p66().R(kD, kR).implicit(Im::kDxAxR).flags(Fx::kCfRest0).special(Special::kTpause));
  for (unsigned i = 5; i < 8; ++i) t.add(op(0xae).reg_only().ext(i).np());  // lfence mfence sfence
}

template <int N>
constexpr void add_0f_sse_rows(RowList<N>& t) {
  // Packed single, packed double, and the scalar pair.
  const auto ps_pd = [&t](unsigned o) { t.add(op(o).np66().X(kM16, kR)); };
  const auto ss_sd = [&t](unsigned o) {
    t.add(op(o).f3().X(kM4, kR));
    t.add(op(o).f2().X(kM8, kR));
  };
  // An MMX instruction and its SSE2 form.
  const auto mmx_sse = [&t](unsigned o) {
    t.add(op(o).np().X(kM8, kR));
    t.add(op(o).p66().X(kM16, kR));
  };

  ps_pd(0x10);
  ss_sd(0x10);
  t.add(op(0x11).np66().X(kM16, kWr));
  t.add(op(0x11).f3().X(kM4, kWr));
  t.add(op(0x11).f2().X(kM8, kWr));
  t.add(op(0x12).np().X(kM8, kR));   // movlps, movhlps
  t.add(op(0x12).p66().M(kM8, kR));  // movlpd
  t.add(op(0x12).f3().X(kM16, kR));  // movsldup
  t.add(op(0x12).f2().X(kM8, kR));   // movddup
  t.add(op(0x13).np66().M(kM8, kWr));
  ps_pd(0x14);
  ps_pd(0x15);
  t.add(op(0x16).np().X(kM8, kR));
  t.add(op(0x16).p66().M(kM8, kR));
  t.add(op(0x16).f3().X(kM16, kR));
  t.add(op(0x17).np66().M(kM8, kWr));
  ps_pd(0x28);
  t.add(op(0x29).np66().X(kM16, kWr));
  t.add(op(0x2a).np66().X(kM8, kR));            // cvtpi2ps, cvtpi2pd
  t.add(op(0x2a).pp(kPpF3 | kPpF2).E(kY, kR));  // cvtsi2ss, cvtsi2sd
  t.add(op(0x2b).np66().M(kM16, kWr));          // movntps
  t.add(op(0x2b).f3().M(kM4, kWr));             // movntss
  t.add(op(0x2b).f2().M(kM8, kWr));             // movntsd
  for (unsigned o : {0x2cu, 0x2du}) {           // cvt(t)ps2pi ...
    t.add(op(o).np().X(kM8, kR));
    t.add(op(o).p66().X(kM16, kR));
    t.add(op(o).f3().X(kM4, kR).G(kY, kWr));
    t.add(op(o).f2().X(kM8, kR).G(kY, kWr));
  }
  for (unsigned o : {0x2eu, 0x2fu}) {  // ucomis, comis
    t.add(op(o).np().X(kM4, kR).flags(Fx::kComis));
    t.add(op(o).p66().X(kM8, kR).flags(Fx::kComis));
  }
  t.add(op(0x50).np66().R(kNoGpr, kR).G(kD, kWr));  // movmskps
  ps_pd(0x51);
  ss_sd(0x51);
  t.add(op(0x52).np().X(kM16, kR));
  t.add(op(0x52).f3().X(kM4, kR));
  t.add(op(0x53).np().X(kM16, kR));
  t.add(op(0x53).f3().X(kM4, kR));
  for (unsigned o = 0x54; o <= 0x57; ++o) ps_pd(o);
  for (unsigned o : {0x58u, 0x59u, 0x5cu, 0x5du, 0x5eu, 0x5fu}) {
    ps_pd(o);
    ss_sd(o);
  }
  t.add(op(0x5a).np().X(kM8, kR));    // cvtps2pd
  t.add(op(0x5a).p66().X(kM16, kR));  // cvtpd2ps
  ss_sd(0x5a);
  t.add(op(0x5b).pp(kPpNone | kPp66 | kPpF3).X(kM16, kR));  // cvtdq2ps, cvtps2dq, cvttps2dq
  for (unsigned o = 0x60; o <= 0x62; ++o) {
    t.add(op(o).np().X(kM4, kR));  // punpckl
    t.add(op(o).p66().X(kM16, kR));
  }
  for (unsigned o = 0x63; o <= 0x6b; ++o) mmx_sse(o);
  t.add(op(0x6c).p66().X(kM16, kR));
  t.add(op(0x6d).p66().X(kM16, kR));
  t.add(op(0x6e).np66().E(kY, kR));               // movd, movq
  t.add(op(0x6f).np().X(kM8, kR));                // movq
  t.add(op(0x6f).pp(kPp66 | kPpF3).X(kM16, kR));  // movdqa, movdqu
  t.add(op(0x70).np().X(kM8, kR).ib());           // pshufw
  t.add(op(0x70).pp(kPp66 | kPpF3 | kPpF2).X(kM16, kR).ib());
  for (unsigned o : {0x71u, 0x72u, 0x73u})  // psrl psra psll by an immediate
    for (unsigned i : {2u, 4u, 6u})
      if (o != 0x73 || i != 4) t.add(op(o).np66().reg_only().ext(i).ib());
  t.add(op(0x73).p66().reg_only().ext(3).ib());  // psrldq
  t.add(op(0x73).p66().reg_only().ext(7).ib());  // pslldq
  for (unsigned o : {0x74u, 0x75u, 0x76u}) mmx_sse(o);
  t.add(op(0x77).np());                                     // emms
  t.add(op(0x78).p66().reg_only().ext(0).imm(Imm::kIbIb));  // extrq
  t.add(op(0x78).f2().R(kNoGpr, kR).imm(Imm::kIbIb));       // insertq
  t.add(op(0x79).p66().R(kNoGpr, kR));                      // extrq
  t.add(op(0x79).f2().R(kNoGpr, kR));                       // insertq
  t.add(op(0x7c).pp(kPp66 | kPpF2).X(kM16, kR));            // haddpd, haddps
  t.add(op(0x7d).pp(kPp66 | kPpF2).X(kM16, kR));
  t.add(op(0x7e).np66().E(kY, kWr));  // movd, movq
  t.add(op(0x7e).f3().X(kM8, kR));    // movq
  t.add(op(0x7f).np().X(kM8, kWr));
  t.add(op(0x7f).pp(kPp66 | kPpF3).X(kM16, kWr));

  ps_pd(0xc2);
  ss_sd(0xc2);
  t.add(op(0xc4).np66().E(kD, kM2, kR).ib());            // pinsrw
  t.add(op(0xc5).np66().R(kNoGpr, kR).G(kD, kWr).ib());  // pextrw
  ps_pd(0xc6);
  t.add(op(0xd0).pp(kPp66 | kPpF2).X(kM16, kR));    // addsubpd, addsubps
  t.add(op(0xd6).p66().X(kM8, kWr));                // movq
  t.add(op(0xd6).f3().R(kNoGpr, kR));               // movq2dq
  t.add(op(0xd6).f2().R(kNoGpr, kR));               // movdq2q
  t.add(op(0xd7).np66().R(kNoGpr, kR).G(kD, kWr));  // pmovmskb
  for (unsigned o = 0xd1; o <= 0xfe; ++o) {
    if (o == 0xd6 || o == 0xd7 || o == 0xe6 || o == 0xe7 || o == 0xf0 || o == 0xf7) continue;
    mmx_sse(o);
  }
  t.add(op(0xe6).p66().X(kM16, kR));   // cvttpd2dq
  t.add(op(0xe6).f3().X(kM8, kR));     // cvtdq2pd
  t.add(op(0xe6).f2().X(kM16, kR));    // cvtpd2dq
  t.add(op(0xe7).np().M(kM8, kWr));    // movntq
  t.add(op(0xe7).p66().M(kM16, kWr));  // movntdq
  t.add(op(0xf0).f2().M(kM16, kR));    // lddqu
  t.add(op(0xf7).np66().R(kNoGpr, kR).implicit(Im::kMaskMov));
}

/// The immediates of cmpps, shufps and their like are not in the calls above; every row of these opcodes has
/// one.
template <int N>
constexpr void finish_0f_rows(RowList<N>& t) {
  for (int i = 0; i < t.count; ++i) {
    Row& row = t.rows[i];
    if (row.table == Table::k0F && (row.opcode == 0xc2 || row.opcode == 0xc6)) row.imm_kind = Imm::kIb;
  }
}

template <int N>
constexpr void add_0f_rows(RowList<N>& t) {
  t.table = Table::k0F;
  add_0f_system_rows(t);
  add_0f_integer_rows(t);
  add_0f_sse_rows(t);
  finish_0f_rows(t);
}

}  // namespace detrec::guest::tables
