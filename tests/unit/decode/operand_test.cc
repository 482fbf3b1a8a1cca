// Memory operands, general registers and flags of integer instructions.
#include <gtest/gtest.h>

#include "tests/unit/decode/decoded.h"

namespace detrec::guest::test {
namespace {

constexpr unsigned kR8 = 8, kR10 = 10, kR12 = 12, kR13 = 13;

TEST(DecodeMemory, ModRmForms) {
  Insn i = insn_of("8b 00");  // mov eax, [rax]
  EXPECT_EQ(i.mem_count, 1);
  EXPECT_EQ(i.mem[0].base, kRax);
  EXPECT_EQ(i.mem[0].index, kNoReg);
  EXPECT_EQ(i.mem[0].disp, 0);
  EXPECT_EQ(i.mem[0].size, 4);
  EXPECT_TRUE(i.mem[0].read);
  EXPECT_FALSE(i.mem[0].write);
  EXPECT_EQ(i.mem[0].kind, MemKind::kExplicit);

  i = insn_of("48 89 44 24 f8");  // mov [rsp-8], rax
  EXPECT_EQ(i.mem[0].base, kRsp);
  EXPECT_EQ(i.mem[0].index, kNoReg);
  EXPECT_EQ(i.mem[0].disp, -8);
  EXPECT_EQ(i.mem[0].size, 8);
  EXPECT_TRUE(i.mem[0].write);
  EXPECT_FALSE(i.mem[0].read);
  EXPECT_EQ(i.disp_offset, 4);
  EXPECT_EQ(i.disp_size, 1);

  i = insn_of("48 8b 05 10 00 00 00");  // mov rax, [rip+16]
  EXPECT_TRUE(i.rip_relative);
  EXPECT_EQ(i.mem[0].base, kRip);
  EXPECT_EQ(i.mem[0].disp, 16);
  EXPECT_EQ(i.disp_offset, 3);
  EXPECT_EQ(i.disp_size, 4);

  i = insn_of("c7 05 10 00 00 00 01 00 00 00");  // with an immediate behind the displacement
  EXPECT_TRUE(i.rip_relative);
  EXPECT_EQ(i.disp_offset, 2);
  EXPECT_EQ(i.imm_offset, 6);
  EXPECT_EQ(i.imm, 1);

  i = insn_of("4a 8b 84 e5 80 00 00 00");  // mov rax, [rbp+r12*8+128]
  EXPECT_EQ(i.mem[0].base, kRbp);
  EXPECT_EQ(i.mem[0].index, kR12);
  EXPECT_EQ(i.mem[0].scale, 8);
  EXPECT_EQ(i.mem[0].disp, 128);

  i = insn_of("8b 04 25 00 00 00 80");  // absolute, sign-extended
  EXPECT_EQ(i.mem[0].base, kNoReg);
  EXPECT_EQ(i.mem[0].index, kNoReg);
  EXPECT_EQ(i.mem[0].disp, -0x80000000ll);
  EXPECT_FALSE(i.rip_relative);

  i = insn_of("67 41 8b 45 00");  // mov eax, [r13d]
  EXPECT_EQ(i.mem[0].base, kR13);
  EXPECT_TRUE(i.mem[0].address32);

  // REX.B does not matter to "no base" and "rip".
  EXPECT_TRUE(insn_of("41 8b 05 00 00 00 00").rip_relative);
  EXPECT_EQ(insn_of("41 8b 04 25 00 00 00 00").mem[0].base, kNoReg);
  EXPECT_EQ(insn_of("67 41 8b 04 25 00 00 00 00").mem[0].base, kNoReg);
  // Index 4 is none, unless REX.X makes it r12.
  EXPECT_EQ(insn_of("42 8b 04 20").mem[0].index, kR12);
}

TEST(DecodeMemory, Stack) {
  Insn i = insn_of("50");  // push rax
  ASSERT_EQ(i.mem_count, 1);
  EXPECT_EQ(i.mem[0].kind, MemKind::kStack);
  EXPECT_EQ(i.mem[0].base, kRsp);
  EXPECT_EQ(i.mem[0].disp, -8);
  EXPECT_EQ(i.mem[0].size, 8);
  EXPECT_TRUE(i.mem[0].write);

  i = insn_of("ff 70 08");  // push [rax+8]
  ASSERT_EQ(i.mem_count, 2);
  EXPECT_EQ(i.mem[0].kind, MemKind::kExplicit);
  EXPECT_TRUE(i.mem[0].read);
  EXPECT_EQ(i.mem[1].kind, MemKind::kStack);
  EXPECT_TRUE(i.mem[1].write);

  i = insn_of("8f 44 24 08");  // pop [rsp+8]: the address counts from the new rsp
  ASSERT_EQ(i.mem_count, 2);
  EXPECT_EQ(i.mem[0].disp, 16);
  EXPECT_TRUE(i.mem[0].write);
  EXPECT_EQ(i.mem[1].disp, 0);
  EXPECT_TRUE(i.mem[1].read);
  EXPECT_EQ(i.disp, 8);

  i = insn_of("c9");  // leave
  EXPECT_EQ(i.mem[0].base, kRbp);
  EXPECT_EQ(i.gpr_read, gprs({kRbp}));
  EXPECT_EQ(i.gpr_written, gprs({kRbp, kRsp}));

  i = insn_of("c8 10 00 00");  // enter 16, 0
  ASSERT_EQ(i.mem_count, 1);
  EXPECT_EQ(i.mem[0].disp, -8);
  EXPECT_EQ(i.mem[0].size, 8);
  EXPECT_EQ(i.imm, 16);
  i = insn_of("c8 10 00 03");  // three levels: pushes four, reads two
  ASSERT_EQ(i.mem_count, 2);
  EXPECT_EQ(i.mem[0].disp, -32);
  EXPECT_EQ(i.mem[0].size, 32);
  EXPECT_EQ(i.mem[1].kind, MemKind::kFrame);
  EXPECT_EQ(i.mem[1].disp, -16);
  EXPECT_EQ(i.mem[1].size, 16);
  EXPECT_EQ(i.imm2, 3);

  EXPECT_EQ(insn_of("66 9c").mem[0].size, 2);
  EXPECT_EQ(insn_of("48 cf").mem[0].size, 40);
  EXPECT_EQ(insn_of("0f a0").mem[0].size, 8);
}

TEST(DecodeMemory, Strings) {
  Insn i = insn_of("f3 48 a5");  // rep movsq
  ASSERT_EQ(i.mem_count, 2);
  EXPECT_EQ(i.mem[0].kind, MemKind::kStringSrc);
  EXPECT_EQ(i.mem[0].base, kRsi);
  EXPECT_EQ(i.mem[0].size, 8);
  EXPECT_TRUE(i.mem[0].read);
  EXPECT_EQ(i.mem[1].kind, MemKind::kStringDst);
  EXPECT_EQ(i.mem[1].base, kRdi);
  EXPECT_TRUE(i.mem[1].write);
  EXPECT_EQ(i.rep, Rep::kRep);
  EXPECT_TRUE(i.is_string);
  EXPECT_EQ(i.gpr_read, gprs({kRcx, kRsi, kRdi}));
  EXPECT_EQ(i.gpr_written, gprs({kRcx, kRsi, kRdi}));
  EXPECT_EQ(i.flags_read, kFlagDf);

  i = insn_of("64 a4");  // FS applies to the source only
  EXPECT_EQ(i.mem[0].segment, Segment::kFs);
  EXPECT_EQ(i.mem[1].segment, Segment::kNone);
  EXPECT_EQ(i.rep, Rep::kNone);

  i = insn_of("f2 ae");  // repne scasb
  EXPECT_EQ(i.rep, Rep::kRepne);
  EXPECT_EQ(i.flags_written, kFlagsStatus);
  EXPECT_EQ(i.flags_must_written, 0);  // rcx may be 0
  EXPECT_EQ(insn_of("ae").flags_must_written, kFlagsStatus);
  EXPECT_EQ(insn_of("f2 a4").rep, Rep::kRep);
  EXPECT_EQ(insn_of("f3 c3").rep, Rep::kNone);
  EXPECT_EQ(insn_of("f3 aa").gpr_read, gprs({kRax, kRcx, kRdi}));
}

TEST(DecodeMemory, Others) {
  Insn i = insn_of("d7");
  EXPECT_EQ(i.mem[0].kind, MemKind::kXlat);
  EXPECT_EQ(i.mem[0].base, kRbx);
  EXPECT_EQ(i.mem[0].index, kRax);
  i = insn_of("64 48 a1 f0 de bc 9a 78 56 34 12");  // mov rax, fs:[moffs]
  EXPECT_EQ(i.mem[0].kind, MemKind::kMoffs);
  EXPECT_EQ(i.mem[0].disp, 0x123456789abcdef0);
  EXPECT_EQ(i.mem[0].segment, Segment::kFs);
  EXPECT_EQ(i.disp_size, 8);
  EXPECT_EQ(i.imm_size, 0);
  i = insn_of("67 a3 f0 de bc 9a");
  EXPECT_EQ(i.mem[0].disp, 0x9abcdef0);
  EXPECT_TRUE(i.mem[0].write);
  i = insn_of("66 0f f7 c1");  // maskmovdqu
  EXPECT_EQ(i.mem[0].kind, MemKind::kMaskMov);
  EXPECT_EQ(i.mem[0].size, 16);
  i = insn_of("66 0f 38 f8 0a");  // movdir64b rcx, [rdx]
  ASSERT_EQ(i.mem_count, 2);
  EXPECT_EQ(i.mem[1].kind, MemKind::kRegister);
  EXPECT_EQ(i.mem[1].base, kRcx);
  EXPECT_EQ(i.mem[1].size, 64);
  EXPECT_TRUE(i.mem[1].write);
  EXPECT_TRUE(insn_of("8d 04 48").mem[0].is_agen);
  EXPECT_TRUE(insn_of("0f 18 08").mem[0].is_agen);        // prefetcht0
  EXPECT_TRUE(insn_of("0f 1f 44 00 00").mem[0].is_agen);  // nop
  EXPECT_TRUE(insn_of("0f a3 08").is_bit_string);
  EXPECT_FALSE(insn_of("0f a3 c8").is_bit_string);
  EXPECT_FALSE(insn_of("0f ba 20 05").is_bit_string);
  EXPECT_EQ(insn_of("66 63 03").mem[0].size, 2);  // movsxd ax, [rbx]
  EXPECT_EQ(insn_of("48 63 03").mem[0].size, 4);
  EXPECT_EQ(insn_of("dd 30").mem[0].size, 108);
  EXPECT_EQ(insn_of("66 d9 30").mem[0].size, 14);
  EXPECT_EQ(insn_of("48 0f c7 08").mem[0].size, 16);
  EXPECT_EQ(insn_of("0f ae 00").mem[0].size, 512);
  EXPECT_EQ(insn_of("0f ae 20").mem[0].size, 0);
}

TEST(DecodeRegisters, ReadAndWritten) {
  Insn i = insn_of("48 01 d8");  // add rax, rbx
  EXPECT_EQ(i.gpr_read, gprs({kRax, kRbx}));
  EXPECT_EQ(i.gpr_written, gprs({kRax}));
  i = insn_of("4c 89 c0");  // mov rax, r8
  EXPECT_EQ(i.gpr_read, gprs({kR8}));
  EXPECT_EQ(i.gpr_written, gprs({kRax}));
  // A 32-bit write clears the upper half, smaller ones keep the rest.
  EXPECT_EQ(insn_of("89 d8").gpr_read, gprs({kRbx}));
  EXPECT_EQ(insn_of("66 89 d8").gpr_read, gprs({kRax, kRbx}));
  EXPECT_EQ(insn_of("88 d8").gpr_read, gprs({kRax, kRbx}));
  // ah..bh without REX, spl..dil with.
  EXPECT_EQ(insn_of("88 e5").gpr_written, gprs({kRcx}));
  EXPECT_EQ(insn_of("88 e5").gpr_read, gprs({kRax, kRcx}));
  EXPECT_EQ(insn_of("40 88 e5").gpr_written, gprs({kRbp}));
  EXPECT_EQ(insn_of("b7 01").gpr_written, gprs({kRbx}));
  EXPECT_EQ(insn_of("0f 44 c1").gpr_read, gprs({kRax, kRcx}));  // cmove eax, ecx
  EXPECT_EQ(insn_of("f7 e1").gpr_written, gprs({kRax, kRdx}));  // mul ecx
  EXPECT_EQ(insn_of("f7 e1").gpr_read, gprs({kRax, kRcx}));
  EXPECT_EQ(insn_of("f6 e1").gpr_written, gprs({kRax}));
  EXPECT_EQ(insn_of("48 f7 f9").gpr_read, gprs({kRax, kRcx, kRdx}));
  EXPECT_EQ(insn_of("48 99").gpr_written, gprs({kRdx}));
  EXPECT_EQ(insn_of("d3 e0").gpr_read, gprs({kRax, kRcx}));
  EXPECT_EQ(insn_of("0f a2").gpr_written, gprs({kRax, kRbx, kRcx, kRdx}));
  EXPECT_EQ(insn_of("0f c7 08").gpr_read, gprs({kRax, kRbx, kRcx, kRdx}));
  EXPECT_EQ(insn_of("f0 48 0f b1 0a").gpr_written, gprs({kRax}));
  EXPECT_EQ(insn_of("49 87 c2").gpr_written, gprs({kRax, kR10}));
  EXPECT_EQ(insn_of("0f 05").gpr_written, gprs({kRcx, 11}));
  // xchg r8, rax is not a nop; pause stays one with REX.B.
  EXPECT_EQ(insn_of("41 90").gpr_written, gprs({kRax, kR8}));
  EXPECT_EQ(insn_of("90").gpr_written, 0);
  EXPECT_EQ(insn_of("f3 41 90").gpr_written, 0);
  EXPECT_EQ(insn_of("0f 1f c0").gpr_read, 0);
  EXPECT_EQ(insn_of("0f bc c1").gpr_read, gprs({kRax, kRcx}));     // bsf keeps eax if ecx is 0
  EXPECT_EQ(insn_of("f3 0f bc c1").gpr_read, gprs({kRcx}));        // tzcnt does not
  EXPECT_EQ(insn_of("df e0").gpr_written, gprs({kRax}));           // fnstsw ax
  EXPECT_EQ(insn_of("66 48 0f 7e c3").gpr_written, gprs({kRbx}));  // movq rbx, xmm0
  EXPECT_EQ(insn_of("0f d7 c1").gpr_written, gprs({kRax}));        // pmovmskb
}

TEST(DecodeFlags, Effects) {
  Insn i = insn_of("01 d8");
  EXPECT_EQ(i.flags_read, 0);
  EXPECT_EQ(i.flags_written, kFlagsStatus);
  EXPECT_EQ(i.flags_must_written, kFlagsStatus);
  EXPECT_EQ(i.flags_undefined, 0);
  EXPECT_EQ(insn_of("11 d8").flags_read, kFlagCf);
  EXPECT_EQ(insn_of("21 d8").flags_undefined, kFlagAf);
  EXPECT_EQ(insn_of("31 d8").flags_undefined, kFlagAf);
  EXPECT_EQ(insn_of("ff c0").flags_written, kFlagsStatus & ~kFlagCf);
  EXPECT_EQ(insn_of("48 8d 04 08").flags_written, 0);
  EXPECT_EQ(insn_of("f5").flags_read, kFlagCf);
  EXPECT_EQ(insn_of("fc").flags_written, kFlagDf);
  EXPECT_EQ(insn_of("9c").flags_read, kFlagsAll);
  EXPECT_EQ(insn_of("9d").flags_must_written, kFlagsAll);
  EXPECT_EQ(insn_of("9e").flags_written, kFlagsStatus & ~kFlagOf);
  EXPECT_EQ(insn_of("f7 d0").flags_written, 0);  // not
  EXPECT_EQ(insn_of("0f 38 f0 00").flags_written, 0);
}

TEST(DecodeFlags, ShiftsByNothingChangeNothing) {
  EXPECT_EQ(insn_of("d3 e0").flags_written, kFlagsStatus);
  EXPECT_EQ(insn_of("d3 e0").flags_must_written, 0);
  EXPECT_EQ(insn_of("c1 e0 03").flags_must_written, kFlagsStatus);
  EXPECT_EQ(insn_of("c1 e0 00").flags_must_written, 0);
  EXPECT_EQ(insn_of("c1 e0 20").flags_must_written, 0);  // the count is taken modulo 32
  EXPECT_EQ(insn_of("48 c1 e0 20").flags_must_written, kFlagsStatus);
  EXPECT_EQ(insn_of("48 c1 e0 40").flags_must_written, 0);
  EXPECT_EQ(insn_of("d1 e0").flags_must_written, kFlagsStatus);
  EXPECT_EQ(insn_of("d1 e0").flags_undefined, kFlagAf);
  EXPECT_EQ(insn_of("d1 c0").flags_written, kFlagCf | kFlagOf);
  EXPECT_EQ(insn_of("d1 c0").flags_must_written, kFlagCf | kFlagOf);
  EXPECT_EQ(insn_of("c1 e0 01").flags_undefined, kFlagAf);
  // Rotates by more than 1 leave OF undefined, and processors leave it alone.
  EXPECT_EQ(insn_of("c1 c0 02").flags_must_written, kFlagCf);
  EXPECT_EQ(insn_of("c0 d0 09").flags_must_written, 0);  // rcl al, 9 is no rotation at all
  EXPECT_EQ(insn_of("0f a4 c8 00").flags_must_written, 0);
}

TEST(DecodeFlags, UndefinedFlagsMayKeepTheirValue) {
  EXPECT_EQ(insn_of("0f a3 c8").flags_must_written, kFlagCf);  // bt
  EXPECT_EQ(insn_of("f7 f1").flags_written, kFlagsStatus);     // div
  EXPECT_EQ(insn_of("f7 f1").flags_must_written, 0);
  EXPECT_EQ(insn_of("0f bc c1").flags_must_written, kFlagZf);            // bsf
  EXPECT_EQ(insn_of("0f af c1").flags_must_written, kFlagCf | kFlagOf);  // imul
  EXPECT_EQ(insn_of("31 c0").flags_must_written, kFlagsStatus);          // xor clears AF
}

TEST(DecodeFlags, Conditions) {
  constexpr std::uint16_t kReads[8] = {kFlagOf, kFlagCf, kFlagZf,           kFlagCf | kFlagZf,
                                       kFlagSf, kFlagPf, kFlagSf | kFlagOf, kFlagZf | kFlagSf | kFlagOf};
  for (unsigned cc = 0; cc < 16; ++cc) {
    const std::uint8_t code[][4] = {{static_cast<std::uint8_t>(0x70 + cc), 0},
                                    {0x0f, static_cast<std::uint8_t>(0x90 + cc), 0xc0},
                                    {0x0f, static_cast<std::uint8_t>(0x40 + cc), 0xc1}};
    for (const auto& bytes : code) {
      Insn insn;
      ASSERT_EQ(decode(bytes, sizeof bytes, insn), DecodeStatus::kOk);
      EXPECT_EQ(insn.cc, cc);
      EXPECT_EQ(insn.flags_read, kReads[cc / 2]);
      EXPECT_EQ(insn.flags_written, 0);
    }
  }
  EXPECT_EQ(insn_of("90").cc, kNoReg);
}

}  // namespace
}  // namespace detrec::guest::test
