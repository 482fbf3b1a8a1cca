// The decoder against Zydis: a slice of all patterns, and the code of this process. decode_exhaustive and
// decode_binaries compare everything.
#include "tests/unit/decode/oracle/oracle.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "tests/unit/decode/oracle/code_sections.h"
#include "tests/unit/decode/oracle/known_differences.h"
#include "tests/unit/decode/oracle/patterns.h"
#include "tests/unit/decode/oracle/sweep.h"

namespace detrec::guest::test {
namespace {

TEST(DecodeOracle, Patterns) {
  const Oracle oracle;
  for (const PatternSpace& space : pattern_spaces()) {
    // A prime stride visits every opcode with changing operands.
    constexpr std::uint64_t kStride = 211;
    Tally tally;
    for (std::uint64_t n = 0; n < space.size; n += kStride) oracle.compare(space.make(n), tally);
    EXPECT_EQ(tally.mismatches, 0u) << space.name << ": " << tally.summary();
    EXPECT_GT(tally.valid, 0u) << space.name;
    std::printf("%s: %llu patterns, %llu valid\n", space.name,
                static_cast<unsigned long long>(tally.compared),
                static_cast<unsigned long long>(tally.valid));
  }
}

TEST(DecodeOracle, CodeOfThisProcess) {
  const Oracle oracle;
  Tally tally;
  for (const std::string& path : mapped_files()) {
    const CodeFile file(path);
    for (const auto section : file.sections()) sweep(oracle, section, 150'000, tally);
  }
  EXPECT_EQ(tally.mismatches, 0u) << tally.summary();
  EXPECT_GT(tally.valid, 100'000u);
}

// The comparison itself must notice every property.
TEST(DecodeOracle, NoticesDifferences) {
  const Oracle oracle;
  const std::uint8_t code[] = {0x48, 0x03, 0x44, 0x8b, 0x10};  // add rax, [rbx+rcx*4+16]
  const Reference ref = oracle.reference(code);
  Insn good;
  ASSERT_EQ(decode(code, sizeof code, good), DecodeStatus::kOk);
  ASSERT_TRUE(oracle.differences(ref, DecodeStatus::kOk, good).empty());
  const auto found = [&](auto change, Property expected) {
    Insn insn = good;
    change(insn);
    const std::vector<Difference> list = oracle.differences(ref, DecodeStatus::kOk, insn);
    return list.size() == 1 && list[0].property == expected;
  };
  EXPECT_TRUE(found([](Insn& i) { i.length = 4; }, Property::kLength));
  EXPECT_TRUE(found([](Insn& i) { i.disp_offset = 3; }, Property::kLayout));
  EXPECT_TRUE(found([](Insn& i) { i.imm_size = 1; }, Property::kLayout));
  EXPECT_TRUE(found([](Insn& i) { i.branch = Branch::kRet; }, Property::kBranch));
  EXPECT_TRUE(found([](Insn& i) { i.special = Special::kCpuid; }, Property::kSpecial));
  EXPECT_TRUE(found([](Insn& i) { i.mem[0].base = kRax; }, Property::kMemory));
  EXPECT_TRUE(found([](Insn& i) { i.mem[0].index = kRax; }, Property::kMemory));
  EXPECT_TRUE(found([](Insn& i) { i.mem[0].scale = 8; }, Property::kMemory));
  EXPECT_TRUE(found([](Insn& i) { i.mem[0].disp = 17; }, Property::kMemory));
  EXPECT_TRUE(found([](Insn& i) { i.mem[0].size = 4; }, Property::kMemory));
  EXPECT_TRUE(found([](Insn& i) { i.mem[0].write = true; }, Property::kMemory));
  EXPECT_TRUE(found([](Insn& i) { i.mem[0].segment = Segment::kFs; }, Property::kMemory));
  EXPECT_TRUE(found([](Insn& i) { i.mem[0].address32 = true; }, Property::kMemory));
  EXPECT_TRUE(found([](Insn& i) { i.mem_count = 0; }, Property::kMemory));
  EXPECT_TRUE(found([](Insn& i) { i.gpr_read = 1; }, Property::kGprRead));
  EXPECT_TRUE(found([](Insn& i) { i.gpr_written = 3; }, Property::kGprWritten));
  EXPECT_TRUE(found([](Insn& i) { i.flags_read = kFlagCf; }, Property::kFlags));
  EXPECT_TRUE(found([](Insn& i) { i.flags_written = 0; }, Property::kFlags));
  EXPECT_TRUE(found([](Insn& i) { i.flags_undefined = kFlagAf; }, Property::kFlags));
  EXPECT_TRUE(found([](Insn& i) { i.flags_must_written |= kFlagDf; }, Property::kFlags));
  const std::vector<Difference> list = oracle.differences(ref, DecodeStatus::kInvalid, good);
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0].property, Property::kValidity);
}

}  // namespace
}  // namespace detrec::guest::test
