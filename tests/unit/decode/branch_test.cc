// Branches, and instructions that must not simply be copied.
#include <gtest/gtest.h>

#include <utility>

#include "tests/unit/decode/decoded.h"

namespace detrec::guest::test {
namespace {

constexpr std::uint64_t kPc = 0x401000;

TEST(DecodeBranch, Direct) {
  Insn i = insn_of("e8 fb ff ff ff");  // call to itself
  EXPECT_EQ(i.branch, Branch::kCallRel);
  EXPECT_EQ(branch_target(i, kPc), kPc);
  EXPECT_EQ(i.imm_offset, 1);
  EXPECT_EQ(i.imm_size, 4);
  EXPECT_EQ(i.mem[0].kind, MemKind::kStack);
  EXPECT_TRUE(has_fallthrough(i));
  EXPECT_EQ(insn_of("eb 10").branch, Branch::kJmpRel);
  EXPECT_EQ(branch_target(insn_of("eb 10"), kPc), kPc + 0x12);
  EXPECT_FALSE(has_fallthrough(insn_of("e9 00 00 00 00")));
  EXPECT_EQ(insn_of("75 fe").branch, Branch::kJccRel);
  EXPECT_EQ(insn_of("0f 85 00 00 00 80").imm, -0x80000000ll);
  for (const char* loop : {"e0 00", "e1 00", "e2 00", "e3 00"}) {
    EXPECT_EQ(insn_of(loop).branch, Branch::kLoopRel) << loop;
    EXPECT_TRUE(is_direct_branch(insn_of(loop)));
  }
  EXPECT_EQ(insn_of("e0 00").flags_read, kFlagZf);
  EXPECT_EQ(insn_of("e2 00").flags_read, 0);
  EXPECT_EQ(insn_of("e2 00").gpr_written, gprs({kRcx}));
  EXPECT_EQ(insn_of("e3 00").gpr_written, 0);
  EXPECT_EQ(insn_of("c7 f8 10 00 00 00").branch, Branch::kXbegin);
  EXPECT_EQ(branch_target(insn_of("66 c7 f8 10 00"), kPc), kPc + 0x15);
}

TEST(DecodeBranch, OperandSizePrefixIsIgnored) {
  // As on Intel's processors: AMD's would take a 16-bit displacement.
  EXPECT_EQ(insn_of("66 e8 00 00 00 00").imm_size, 4);
  EXPECT_EQ(insn_of("66 e9 00 00 00 00").imm_size, 4);
  EXPECT_EQ(insn_of("66 0f 84 00 00 00 00").imm_size, 4);
  EXPECT_EQ(insn_of("66 e8 00 00 00 00").mem[0].size, 8);
  EXPECT_EQ(insn_of("66 c3").mem[0].size, 8);
  EXPECT_EQ(insn_of("66 ff 20").mem[0].size, 8);
  EXPECT_EQ(insn_of("48 e8 00 00 00 00").imm_size, 4);
}

TEST(DecodeBranch, PrefixesWithoutEffect) {
  EXPECT_EQ(insn_of("2e 75 00").branch, Branch::kJccRel);  // hints
  EXPECT_EQ(insn_of("3e 75 00").prefixes, kPrefixDs);
  EXPECT_EQ(insn_of("f2 e8 00 00 00 00").branch, Branch::kCallRel);  // bnd
  EXPECT_EQ(insn_of("f2 c3").branch, Branch::kRet);
  EXPECT_EQ(insn_of("f3 c3").branch, Branch::kRet);
  EXPECT_EQ(insn_of("3e ff e0").branch, Branch::kJmpIndirect);  // notrack
  EXPECT_EQ(insn_of("f3 0f 1e fa").branch, Branch::kNone);      // endbr64
  EXPECT_EQ(insn_of("f3 0f 1e fa").special, Special::kNone);
  EXPECT_EQ(insn_of("f3 48 0f 1e c8").gpr_written, 0);  // rdsspq without shadow stacks
}

TEST(DecodeBranch, Indirect) {
  EXPECT_EQ(insn_of("ff e0").branch, Branch::kJmpIndirect);
  EXPECT_EQ(insn_of("ff 25 00 00 00 00").branch, Branch::kJmpIndirect);
  EXPECT_TRUE(insn_of("ff 25 00 00 00 00").rip_relative);
  EXPECT_EQ(insn_of("41 ff d3").branch, Branch::kCallIndirect);
  const Insn call = insn_of("ff 54 24 08");  // call [rsp+8]: the operand is read before the push
  ASSERT_EQ(call.mem_count, 2);
  EXPECT_EQ(call.mem[0].disp, 8);
  EXPECT_EQ(call.mem[1].disp, -8);
  EXPECT_EQ(insn_of("c3").branch, Branch::kRet);
  EXPECT_EQ(insn_of("c2 08 00").branch, Branch::kRet);
  EXPECT_EQ(insn_of("c2 f8 ff").imm, 0xfff8);
  EXPECT_EQ(insn_of("cb").branch, Branch::kFarRet);
  EXPECT_EQ(insn_of("ca 08 00").branch, Branch::kFarRet);
  EXPECT_EQ(insn_of("48 cf").branch, Branch::kIret);
  EXPECT_EQ(insn_of("ff 18").branch, Branch::kFarCall);
  EXPECT_EQ(insn_of("48 ff 28").branch, Branch::kFarJmp);
  EXPECT_EQ(insn_of("48 ff 28").mem[0].size, 10);
  EXPECT_EQ(insn_of("0f 05").branch, Branch::kSyscall);
  for (const char* text : {"ff e0", "c3", "cb", "48 cf", "48 ff 28", "0f 0b", "f4"})
    EXPECT_FALSE(has_fallthrough(insn_of(text))) << text;
  for (const char* text : {"ff d0", "0f 05", "75 00", "90", "cc"})
    EXPECT_TRUE(has_fallthrough(insn_of(text))) << text;
}

TEST(DecodeSpecial, Classes) {
  const std::pair<const char*, Special> kCases[] = {
      {"0f a2", Special::kCpuid},
      {"0f 31", Special::kRdtsc},
      {"0f 01 f9", Special::kRdtscp},
      {"0f c7 f0", Special::kRdrand},
      {"48 0f c7 f8", Special::kRdseed},
      {"f3 0f c7 f8", Special::kRdpid},
      {"0f 33", Special::kRdpmc},
      {"0f 01 fd", Special::kRdpru},
      {"0f 03 c1", Special::kLsl},
      {"0f 02 c1", Special::kLar},
      {"0f 00 e0", Special::kVerr},
      {"0f 00 e8", Special::kVerw},
      {"0f 01 00", Special::kSgdt},
      {"0f 01 08", Special::kSidt},
      {"0f 00 c0", Special::kSldt},
      {"0f 00 c8", Special::kStr},
      {"0f 01 e0", Special::kSmsw},
      {"0f 01 d0", Special::kXgetbv},
      {"f3 0f ae f0", Special::kUmonitor},
      {"f2 0f ae f0", Special::kUmwait},
      {"66 0f ae f0", Special::kTpause},
      {"0f 01 fa", Special::kMonitorx},
      {"c7 f8 00 00 00 00", Special::kXbegin},
      {"0f 01 d5", Special::kXend},
      {"c6 f8 01", Special::kXabort},
      {"0f 01 d6", Special::kXtest},
      {"d9 30", Special::kFnstenv},
      {"dd 30", Special::kFnsave},
      {"d9 20", Special::kFldenv},
      {"dd 20", Special::kFrstor},
      {"48 0f ae 00", Special::kFxsave},
      {"0f ae 08", Special::kFxrstor},
      {"0f ae 20", Special::kXsave},
      {"48 0f c7 20", Special::kXsave},
      {"0f ae 30", Special::kXsave},
      {"0f ae 28", Special::kXrstor},
      {"cc", Special::kInt3},
      {"cd 80", Special::kIntN},
      {"f1", Special::kInt1},
      {"0f 0b", Special::kUd},
      {"0f b9 c0", Special::kUd},
      {"0f ff c0", Special::kUd},
      {"f4", Special::kHlt},
      {"fa", Special::kPrivileged},
      {"ec", Special::kPrivileged},
      {"f3 6e", Special::kPrivileged},
      {"0f 30", Special::kPrivileged},
      {"0f 20 c0", Special::kPrivileged},
      {"0f 07", Special::kPrivileged},
      {"0f 01 10", Special::kPrivileged},
      {"0f 34", Special::kSysenter},
      {"0f 05", Special::kSyscall},
      {"f3 48 0f ae c0", Special::kRdfsbase},
      {"f3 48 0f ae c8", Special::kRdgsbase},
      {"f3 48 0f ae d0", Special::kWrfsbase},
      {"f3 48 0f ae d8", Special::kWrgsbase},
      {"8e d8", Special::kMovSeg},
      {"0f a1", Special::kMovSeg},
      {"0f b4 00", Special::kMovSeg},
      {"0f 01 ee", Special::kRdpkru},
      {"0f 01 ef", Special::kWrpkru},
      {"c4 e2 78 49 c0", Special::kAmx},
      {"f3 48 0f ae e8", Special::kShadowStack},
      {"f3 0f 01 ee", Special::kUintr},
      {"f3 0f 38 dc 00", Special::kKeyLocker},
      {"f2 0f 38 f8 00", Special::kEnqcmd},
      {"0f 01 d7", Special::kEnclu},
      // Look like some of the above, and are harmless.
      {"8c d8", Special::kNone},
      {"0f a0", Special::kNone},
      {"0f ae f0", Special::kNone},
      {"0f ae 38", Special::kNone},
      {"0f 01 e8", Special::kNone},
      {"d9 28", Special::kNone},
      {"d9 38", Special::kNone},
      {"0f c7 08", Special::kNone},
      {"9b", Special::kNone},
      {"0f 0d 08", Special::kNone},
      {"f3 0f 09", Special::kPrivileged},
  };
  for (const auto& [text, special] : kCases) {
    const Insn insn = insn_of(text);
    EXPECT_NE(insn.length, 0) << text;
    EXPECT_EQ(insn.special, special) << text;
  }
  EXPECT_EQ(insn_of("cd 80").imm, 0x80);
  // mov cr and mov dr ignore ModRM.mod: no SIB byte, no displacement.
  EXPECT_EQ(insn_of("0f 20 04").length, 3);
  EXPECT_EQ(insn_of("0f 23 44").length, 3);
}

}  // namespace
}  // namespace detrec::guest::test
