// The short way of decoding must say what the full one says, for every encoding it accepts.
#include "trace/guest/decode/plain.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "tests/unit/decode/decoded.h"

namespace detrec::guest::test {
namespace {

constexpr std::uint16_t kFlagsButCf = kFlagsStatus & ~kFlagCf;

std::string text_of(const std::vector<std::uint8_t>& code) {
  std::string text;
  char two[4];
  for (const std::uint8_t byte : code) {
    std::snprintf(two, sizeof two, "%02x ", byte);
    text += two;
  }
  return text;
}

/// True when plain; checks what it says against decode().
bool agrees_if_plain(const std::vector<std::uint8_t>& code) {
  PlainInsn plain;
  if (!decode_plain(code.data(), plain)) return false;
  Insn insn;
  EXPECT_EQ(decode(code.data(), code.size(), insn), DecodeStatus::kOk) << text_of(code);
  EXPECT_EQ(plain.length, insn.length) << text_of(code);
  EXPECT_EQ(insn.branch, Branch::kNone) << text_of(code);
  EXPECT_EQ(insn.special, Special::kNone) << text_of(code);
  EXPECT_EQ(plain.rip_disp, insn.rip_relative ? insn.disp_offset : 0) << text_of(code);
  EXPECT_EQ(insn.prefixes & (kPrefix67 | kPrefixLock), 0) << text_of(code);
  switch (plain.flags) {
    case PlainFlags::kNone:
      EXPECT_EQ((insn.flags_read | insn.flags_written) & kFlagsButCf, 0) << text_of(code);
      break;
    case PlainFlags::kWritten:
      EXPECT_EQ(insn.flags_read & kFlagsButCf, 0) << text_of(code);
      EXPECT_EQ(insn.flags_must_written & kFlagsButCf, kFlagsButCf) << text_of(code);
      break;
    case PlainFlags::kAsk:
      break;
  }
  return true;
}

TEST(DecodePlain, AgreesWithTheFullDecoder) {
  const std::vector<std::vector<std::uint8_t>> legacy = {{},     {0x66}, {0xf3},       {0xf2},       {0x67},
                                                         {0xf0}, {0x64}, {0x66, 0xf3}, {0xf3, 0x66}, {0x2e}};
  std::size_t plain = 0;
  for (const auto& prefixes : legacy) {
    for (const int rex : {0, 0x40, 0x41, 0x48, 0x4f}) {
      for (int map = 0; map < 2; ++map) {
        for (int opcode = 0; opcode < 256; ++opcode) {
          for (int modrm = 0; modrm < 256; ++modrm) {
            for (const int sib : {0x00, 0x25, 0xe5}) {
              if (sib != 0 && (modrm & 7) != 4) continue;
              std::vector<std::uint8_t> code = prefixes;
              if (rex != 0) code.push_back(static_cast<std::uint8_t>(rex));
              if (map == 1) code.push_back(0x0f);
              code.push_back(static_cast<std::uint8_t>(opcode));
              code.push_back(static_cast<std::uint8_t>(modrm));
              code.push_back(static_cast<std::uint8_t>(sib));
              code.resize(32, 0x11);
              plain += agrees_if_plain(code) ? 1 : 0;
              if (HasFailure()) return;
            }
          }
        }
      }
    }
  }
  EXPECT_GT(plain, 300'000u);
}

TEST(DecodePlain, KnowsTheCommonInstructions) {
  for (const char* text : {"f3 0f 1e fa",
                           "55",
                           "41 57",
                           "48 89 e5",
                           "48 83 ec 18",
                           "48 8b 05 11 11 11 11",
                           "8b 44 24 0c",
                           "48 8d 3d 11 11 11 11",
                           "31 c0",
                           "85 c0",
                           "48 39 d8",
                           "c7 45 fc 11 11 11 11",
                           "0f b6 04 17",
                           "b8 11 11 11 11",
                           "48 b8 11 11 11 11 11 11 11 11",
                           "66 0f 6f 02",
                           "f2 0f 10 05 11 11 11 11",
                           "48 0f 45 c2",
                           "0f 94 c0",
                           "c1 e0 04",
                           "48 63 d0",
                           "0f 1f 44 00 00",
                           "c9",
                           "68 11 11 11 11"}) {
    std::vector<std::uint8_t> code = bytes_of(text);
    const std::size_t length = code.size();
    code.resize(32, 0x11);
    EXPECT_TRUE(agrees_if_plain(code)) << text;
    PlainInsn plain;
    EXPECT_TRUE(decode_plain(code.data(), plain) && plain.length == length) << text;
  }
}

}  // namespace
}  // namespace detrec::guest::test
