// VEX, EVEX and XOP encodings.
#include <gtest/gtest.h>

#include "tests/unit/decode/decoded.h"

namespace detrec::guest::test {
namespace {

TEST(DecodeVex, Basics) {
  Insn i = insn_of("c5 fd 6f 40 20");  // vmovdqa ymm0, [rax+32]
  EXPECT_EQ(i.encoding, Encoding::kVex);
  EXPECT_EQ(i.map, OpcodeMap::k0F);
  EXPECT_EQ(i.opcode, 0x6f);
  EXPECT_EQ(i.opcode_offset, 2);
  EXPECT_EQ(i.mem[0].size, 32);
  EXPECT_EQ(i.mem[0].disp, 32);
  i = insn_of("c4 a2 7d 18 04 08");  // vbroadcastss ymm0, [rax+r9]
  EXPECT_EQ(i.mem[0].size, 4);
  EXPECT_EQ(i.mem[0].index, 9);
  EXPECT_TRUE(insn_of("c5 f8 58 05 00 00 00 00").rip_relative);
  EXPECT_EQ(insn_of("c4 e3 79 0f 05 00 00 00 00 08").imm_offset, 9);
  EXPECT_EQ(insn_of("c5 f8 77").length, 3);  // vzeroupper has no ModRM
}

TEST(DecodeVex, FieldsThatMustHaveAValue) {
  EXPECT_EQ(status_of("c5 f0 10 c1"), DecodeStatus::kInvalid);     // vmovups with vvvv
  EXPECT_EQ(status_of("c4 e2 79 16 c1"), DecodeStatus::kInvalid);  // vpermps with 128 bits
  EXPECT_EQ(status_of("c4 e2 fd 18 00"), DecodeStatus::kInvalid);  // vbroadcastss with W
  EXPECT_EQ(status_of("c5 fd 6e c0"), DecodeStatus::kInvalid);     // vmovd with 256 bits
  EXPECT_EQ(status_of("c4 e4 78 58 c1"), DecodeStatus::kInvalid);  // no such map
  EXPECT_EQ(insn_of("c4 c1 78 90 c0").length, 5);                  // kmovw ignores B
  EXPECT_EQ(status_of("c5 78 90 c0"), DecodeStatus::kInvalid);     // but not R
}

TEST(DecodeVex, GeneralRegisters) {
  Insn i = insn_of("c4 e2 f0 f2 c2");  // andn rax, rcx, rdx
  EXPECT_EQ(i.gpr_written, gprs({kRax}));
  EXPECT_EQ(i.gpr_read, gprs({kRcx, kRdx}));
  EXPECT_EQ(i.flags_written, kFlagsStatus);
  i = insn_of("c4 e2 f3 f6 c6");  // mulx rax, rcx, rsi
  EXPECT_EQ(i.gpr_written, gprs({kRax, kRcx}));
  EXPECT_EQ(i.gpr_read, gprs({kRdx, kRsi}));
  EXPECT_EQ(i.flags_written, 0);
  i = insn_of("c4 c2 f0 f3 ce");  // blsr rcx, r14
  EXPECT_EQ(i.gpr_written, gprs({kRcx}));
  EXPECT_EQ(i.gpr_read, gprs({14}));
  i = insn_of("c4 e2 fb f7 00");  // shrx rax, [rax], rax
  EXPECT_EQ(i.mem[0].size, 8);
  EXPECT_EQ(insn_of("c5 f9 d7 c1").gpr_written, gprs({kRax}));     // vpmovmskb
  EXPECT_EQ(insn_of("c4 e1 f9 7e c3").gpr_written, gprs({kRbx}));  // vmovq
  EXPECT_EQ(insn_of("c5 fb 93 c1").gpr_written, gprs({kRax}));     // kmovd
  EXPECT_EQ(insn_of("c5 f9 2f c1").flags_written, kFlagsStatus);   // vcomisd
}

TEST(DecodeVex, Gathers) {
  const Insn i = insn_of("c4 e2 69 90 04 88");  // vpgatherdd xmm0, [rax+xmm1*4], xmm2
  ASSERT_EQ(i.mem_count, 1);
  EXPECT_TRUE(i.mem[0].vsib);
  EXPECT_EQ(i.mem[0].index, 1);
  EXPECT_EQ(i.mem[0].size, 4);
  EXPECT_EQ(i.gpr_read, gprs({kRax}));
  EXPECT_EQ(insn_of("c4 e2 69 90 04 a0").mem[0].index, 4);            // number 4 is an index here
  EXPECT_EQ(status_of("c4 e2 79 90 04 88"), DecodeStatus::kInvalid);  // mask is the destination
  EXPECT_EQ(status_of("c4 e2 69 90 04 80"), DecodeStatus::kInvalid);  // index is the destination
  EXPECT_EQ(status_of("c4 e2 69 90 00"), DecodeStatus::kInvalid);     // no SIB byte
}

TEST(DecodeEvex, DisplacementsAreScaled) {
  EXPECT_EQ(insn_of("62 f1 7c 48 10 40 01").mem[0].disp, 64);   // vmovups zmm0, [rax+64]
  EXPECT_EQ(insn_of("62 f1 7c 28 10 40 ff").mem[0].disp, -32);  // ymm
  EXPECT_EQ(insn_of("62 f1 7c 58 58 40 02").mem[0].disp, 8);    // broadcast of dwords
  EXPECT_EQ(insn_of("62 f1 7c 58 58 40 02").mem[0].size, 4);
  EXPECT_EQ(insn_of("62 f1 7e 08 10 40 03").mem[0].disp, 12);          // vmovss
  EXPECT_EQ(insn_of("62 f2 7d 48 21 40 01").mem[0].disp, 16);          // vpmovsxbd zmm0, [rax+16]
  EXPECT_EQ(insn_of("62 f2 7d 49 88 40 01").mem[0].disp, 4);           // vexpandps counts in elements
  EXPECT_EQ(insn_of("62 f1 7c 48 10 80 01 00 00 00").mem[0].disp, 1);  // 32 bits are not scaled
  EXPECT_EQ(insn_of("62 f2 7d 49 90 44 88 01").mem[0].disp, 4);        // gather
  EXPECT_EQ(insn_of("62 f2 7d 41 90 44 a0 01").mem[0].index, 20);      // vector 20, by V'
}

TEST(DecodeEvex, Masks) {
  EXPECT_EQ(insn_of("62 f1 7c 49 58 c1").length, 6);                     // {k1}
  EXPECT_EQ(insn_of("62 f1 7c c9 58 c1").length, 6);                     // {k1}{z}
  EXPECT_EQ(status_of("62 f1 7c c8 58 c1"), DecodeStatus::kInvalid);     // {z} without a mask
  EXPECT_EQ(status_of("62 f1 7c c9 11 00"), DecodeStatus::kInvalid);     // {z} into memory
  EXPECT_EQ(status_of("62 f1 7d 09 6e c0"), DecodeStatus::kInvalid);     // vmovd has no mask
  EXPECT_EQ(status_of("62 f2 7d 48 90 04 88"), DecodeStatus::kInvalid);  // a gather needs one
  EXPECT_EQ(status_of("62 f1 7c c9 c2 c1 00"), DecodeStatus::kInvalid);  // a comparison cannot zero
}

TEST(DecodeEvex, RoundingAndBroadcast) {
  EXPECT_EQ(insn_of("62 f1 7c 78 58 c1").vector_length, 64);          // {rz-sae}
  EXPECT_EQ(insn_of("62 f1 7c 18 58 c1").vector_length, 64);          // {rn-sae}: L'L is the mode
  EXPECT_EQ(status_of("62 f1 7c 68 58 c1"), DecodeStatus::kInvalid);  // L'L = 3 otherwise
  EXPECT_EQ(status_of("62 f1 7c 58 54 c1"), DecodeStatus::kInvalid);  // vandps does not round
  EXPECT_EQ(status_of("62 f1 7c 58 10 00"), DecodeStatus::kInvalid);  // vmovups does not broadcast
  EXPECT_EQ(status_of("62 f1 74 48 10 c1"), DecodeStatus::kInvalid);  // vvvv unused
  EXPECT_EQ(status_of("62 f1 7c 40 10 c1"), DecodeStatus::kInvalid);  // V' unused
  EXPECT_EQ(status_of("62 f1 78 48 58 c1"), DecodeStatus::kInvalid);  // reserved bit
  EXPECT_EQ(status_of("62 e1 7e 08 2d c0"), DecodeStatus::kInvalid);  // R' with a general register
  EXPECT_EQ(insn_of("62 f1 fe 08 2d c3").gpr_written, gprs({kRax}));  // vcvtss2si rax, xmm3
  EXPECT_EQ(insn_of("62 f5 7c 48 58 c1").map, OpcodeMap::kMap5);      // vaddph
  EXPECT_EQ(insn_of("62 f6 7d 48 98 40 01").mem[0].disp, 64);         // vfmadd132ph
}

// Zydis 4.0 does not know these: the encodings are from Intel's ISA extensions reference.
TEST(DecodeVex, NewerExtensions) {
  Insn i = insn_of("c4 e2 e9 e2 0b");  // cmpbxadd [rbx], rcx, rdx
  EXPECT_EQ(i.gpr_written, gprs({kRcx}));
  EXPECT_EQ(i.gpr_read, gprs({kRbx, kRcx, kRdx}));
  EXPECT_EQ(i.flags_written, kFlagsStatus);
  EXPECT_TRUE(i.mem[0].read && i.mem[0].write);
  EXPECT_EQ(i.mem[0].size, 8);
  EXPECT_EQ(status_of("c4 e2 e9 e2 cb"), DecodeStatus::kInvalid);
  EXPECT_EQ(insn_of("c4 e2 fd b4 00").mem[0].size, 32);  // vpmadd52luq
  EXPECT_EQ(status_of("c4 e2 7d b4 00"), DecodeStatus::kInvalid);
  EXPECT_EQ(insn_of("c4 e2 7f 50 c1").vector_length, 32);       // vpdpbssd
  EXPECT_EQ(insn_of("c4 e2 7b d2 c1").length, 0);               // no vpdpw.. with F2
  EXPECT_EQ(insn_of("c4 e2 7a b1 00").mem[0].size, 2);          // vbcstnebf162ps
  EXPECT_EQ(insn_of("c4 e2 7f cb c1").length, 5);               // vsha512rnds2
  EXPECT_EQ(insn_of("c4 e3 71 de c1 03").imm_size, 1);          // vsm3rnds2
  EXPECT_EQ(insn_of("c4 e2 63 5c d1").special, Special::kAmx);  // tdpfp16ps tmm2, tmm1, tmm3
  i = insn_of("66 0f 38 fc 0b");                                // aand [rbx], ecx
  EXPECT_EQ(i.mem[0].size, 4);
  EXPECT_TRUE(i.mem[0].read && i.mem[0].write);
}

TEST(DecodeXop, Tbm) {
  const Insn i = insn_of("8f e9 78 01 c9");  // blcfill eax, ecx
  EXPECT_EQ(i.encoding, Encoding::kXop);
  EXPECT_EQ(i.gpr_written, gprs({kRax}));
  EXPECT_EQ(i.gpr_read, gprs({kRcx}));
  EXPECT_EQ(insn_of("8f ea 78 10 c1 04 08 00 00").imm_size, 4);  // bextr by an immediate
  EXPECT_EQ(insn_of("8f c0").encoding, Encoding::kLegacy);       // pop rax
}

}  // namespace
}  // namespace detrec::guest::test
