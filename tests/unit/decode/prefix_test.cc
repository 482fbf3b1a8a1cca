// Prefixes, lengths, and what makes an instruction invalid.
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/decode/decoded.h"

namespace detrec::guest::test {
namespace {

TEST(DecodePrefix, RexMustComeLast) {
  EXPECT_EQ(insn_of("48 89 c8").operand_size, 8);
  EXPECT_EQ(insn_of("48 89 c8").rex, 0x48);
  // A legacy prefix after REX cancels it.
  EXPECT_EQ(insn_of("48 66 89 c8").operand_size, 2);
  EXPECT_EQ(insn_of("48 66 89 c8").rex, 0);
  EXPECT_EQ(insn_of("41 48 89 c8").gpr_written, gprs({kRax}));
  EXPECT_EQ(insn_of("66 48 89 c8").operand_size, 8);
}

TEST(DecodePrefix, MandatoryPrefixes) {
  EXPECT_EQ(insn_of("0f 10 00").mem[0].size, 16);
  EXPECT_EQ(insn_of("66 0f 10 00").mem[0].size, 16);
  EXPECT_EQ(insn_of("f3 0f 10 00").mem[0].size, 4);
  EXPECT_EQ(insn_of("f2 0f 10 00").mem[0].size, 8);
  // F2 and F3 win over 66, and the last of them over the others.
  EXPECT_EQ(insn_of("66 f2 0f 10 00").mem[0].size, 8);
  EXPECT_EQ(insn_of("f2 66 0f 10 00").mem[0].size, 8);
  EXPECT_EQ(insn_of("f2 f3 0f 10 00").mem[0].size, 4);
  EXPECT_EQ(insn_of("f3 f2 0f 10 00").mem[0].size, 8);
  // punpcklbw has no F3 form.
  EXPECT_EQ(status_of("f3 0f 60 c0"), DecodeStatus::kInvalid);
  // crc32 takes both: F2 to be itself, 66 for its operand.
  EXPECT_EQ(insn_of("66 f2 0f 38 f1 00").mem[0].size, 2);
}

TEST(DecodePrefix, OperandSize) {
  EXPECT_EQ(insn_of("05 01 02 03 04").imm, 0x04030201);
  EXPECT_EQ(insn_of("66 05 ff ff").imm, -1);
  EXPECT_EQ(insn_of("48 05 00 00 00 80").imm, -0x80000000ll);
  EXPECT_EQ(insn_of("66 48 05 00 00 00 80").operand_size, 8);
  EXPECT_EQ(insn_of("48 b8 01 02 03 04 05 06 07 88").imm, static_cast<std::int64_t>(0x8807060504030201));
  EXPECT_EQ(insn_of("b8 01 02 03 84").imm_size, 4);
  EXPECT_EQ(insn_of("66 b8 01 02").imm_size, 2);
  EXPECT_EQ(insn_of("50").operand_size, 8);
  EXPECT_EQ(insn_of("66 50").operand_size, 2);
}

TEST(DecodePrefix, Segments) {
  EXPECT_EQ(insn_of("64 48 8b 04 25 28 00 00 00").mem[0].segment, Segment::kFs);
  EXPECT_EQ(insn_of("65 48 8b 00").mem[0].segment, Segment::kGs);
  EXPECT_EQ(insn_of("64 65 8b 00").mem[0].segment, Segment::kGs);
  // CS, DS, ES, SS are ignored, before and after.
  EXPECT_EQ(insn_of("2e 8b 00").mem[0].segment, Segment::kNone);
  EXPECT_EQ(insn_of("64 2e 8b 00").mem[0].segment, Segment::kFs);
  EXPECT_EQ(insn_of("3e 64 8b 00").mem[0].segment, Segment::kFs);
  // lea computes an offset.
  EXPECT_EQ(insn_of("64 8d 00").mem[0].segment, Segment::kNone);
  EXPECT_EQ(insn_of("2e 64 8b 00").prefixes, kPrefixCs | kPrefixFs);
}

TEST(DecodePrefix, Lock) {
  EXPECT_TRUE(insn_of("f0 0f b1 0a").lock);
  EXPECT_TRUE(insn_of("f2 f0 48 83 00 01").lock);               // xacquire lock add
  EXPECT_EQ(status_of("f0 0f b1 ca"), DecodeStatus::kInvalid);  // register destination
  EXPECT_EQ(status_of("f0 8b 00"), DecodeStatus::kInvalid);     // not lockable
  EXPECT_EQ(status_of("f0 39 00"), DecodeStatus::kInvalid);     // cmp writes nothing
  EXPECT_EQ(status_of("f0 03 00"), DecodeStatus::kInvalid);     // memory is the source
  EXPECT_EQ(status_of("f0 90"), DecodeStatus::kInvalid);
}

TEST(DecodePrefix, VexRefusesLegacyPrefixes) {
  EXPECT_EQ(insn_of("c5 f8 58 c1").vector_length, 16);
  EXPECT_EQ(insn_of("c5 fc 58 c1").vector_length, 32);
  for (const char* prefix : {"66", "f2", "f3", "f0", "40", "48"}) {
    EXPECT_EQ(status_of(std::string(prefix) + " c5 f8 58 c1"), DecodeStatus::kInvalid) << prefix;
    EXPECT_EQ(status_of(std::string(prefix) + " c4 e1 78 58 c1"), DecodeStatus::kInvalid) << prefix;
    EXPECT_EQ(status_of(std::string(prefix) + " 62 f1 7c 48 58 c1"), DecodeStatus::kInvalid) << prefix;
  }
  // Segment and address-size prefixes are fine.
  EXPECT_EQ(insn_of("64 67 c5 f8 58 00").mem[0].segment, Segment::kFs);
}

TEST(DecodePrefix, Length) {
  EXPECT_EQ(status_of(""), DecodeStatus::kTruncated);
  EXPECT_EQ(status_of("48"), DecodeStatus::kTruncated);
  EXPECT_EQ(status_of("e8 00 00 00"), DecodeStatus::kTruncated);
  EXPECT_EQ(status_of("66 66 66 66 66 66 66 66 66 66 66 66 66 66"), DecodeStatus::kTruncated);
  EXPECT_EQ(status_of("66 66 66 66 66 66 66 66 66 66 66 66 66 66 66"), DecodeStatus::kTooLong);
  EXPECT_EQ(insn_of("66 66 66 66 66 66 66 66 66 66 66 66 66 66 90").length, 15);
  EXPECT_EQ(status_of("66 66 66 66 66 66 66 66 66 66 66 66 66 66 66 90"), DecodeStatus::kTooLong);
  // The immediate ends with byte 15, then behind it.
  EXPECT_EQ(insn_of("64 64 64 64 c7 84 00 00 00 00 00 00 00 00 00").length, 15);
  EXPECT_EQ(status_of("64 64 64 64 64 c7 84 00 00 00 00 00 00 00 00 00"), DecodeStatus::kTooLong);
}

TEST(DecodePrefix, EveryPrefixOfAnInstructionIsTruncated) {
  for (const char* text : {"90", "48 8b 84 c8 78 56 34 12", "66 0f 3a 0f c1 08", "c4 e3 7d 19 44 24 40 01",
                           "62 f3 fd 48 00 44 24 01 1b", "48 b8 01 02 03 04 05 06 07 08", "67 a1 01 02 03 04",
                           "f0 0f b1 0a", "c8 10 00 03", "8f 69 78 01 c8", "8f 00"}) {
    const std::vector<std::uint8_t> bytes = bytes_of(text);
    Insn insn;
    EXPECT_EQ(decode(bytes.data(), bytes.size(), insn), DecodeStatus::kOk) << text;
    for (std::size_t n = 0; n < bytes.size(); ++n)
      EXPECT_EQ(decode(bytes.data(), n, insn), DecodeStatus::kTruncated) << text << " first " << n;
  }
}

TEST(DecodePrefix, Invalid) {
  for (const char* text : {"06",
                           "07",
                           "0e",
                           "16",
                           "17",
                           "1e",
                           "1f",
                           "27",
                           "2f",
                           "37",
                           "3f",
                           "60",
                           "61",
                           "82 c0 01",
                           "9a 00 00 00 00 00 00",
                           "ce",
                           "d4 0a",
                           "d5 0a",
                           "d6",
                           "ea 00 00 00 00 00 00",
                           "0f 04",
                           "0f 0a",
                           "0f 0f c1 0d",
                           "0f 24 c0",
                           "0f 39",
                           "0f 7a",
                           "0f a6 c0",
                           "0f a7 c0",
                           "8d c0",
                           "8e c8",
                           "8e f0",
                           "c6 c8 00",
                           "f2 0f c7 f0",
                           "fe d0",
                           "ff f8",
                           "0f 20 c8",
                           "c5 f8 5b",
                           "d5 00 90",
                           "0f b8 c0",
                           "8f c8",
                           "c5 f0 10 c1",
                           "c4 e2 79 18 04"})
    EXPECT_NE(status_of(text), DecodeStatus::kOk) << text;
  // APX.
  EXPECT_EQ(status_of("d5 18 89 c8 00 00"), DecodeStatus::kInvalid);
  EXPECT_EQ(status_of("62 f4 7c 18 01 c8"), DecodeStatus::kInvalid);
}

}  // namespace
}  // namespace detrec::guest::test
