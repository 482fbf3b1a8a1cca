// The register list, target.xml and the FXSAVE image.
#include <gtest/gtest.h>

#include <cstring>
#include <regex>

#include "gdbstub/packet/hex.h"
#include "gdbstub/registers/fxsave.h"
#include "gdbstub/registers/layout.h"
#include "gdbstub/registers/target_xml.h"

namespace detrec::gdbstub::registers {
namespace {

constexpr VectorLevel kLevels[] = {VectorLevel::kSse, VectorLevel::kAvx, VectorLevel::kAvx512};

std::size_t described_bytes(const std::string& xml, std::size_t& count) {
  const std::regex line("bitsize=\"(\\d+)\" type=\"[^\"]+\" regnum=\"(\\d+)\"");
  std::size_t bytes = 0;
  count = 0;
  for (auto it = std::sregex_iterator(xml.begin(), xml.end(), line); it != std::sregex_iterator(); ++it) {
    EXPECT_EQ(std::stoul((*it)[2]), count);
    bytes += std::stoul((*it)[1]) / 8;
    ++count;
  }
  return bytes;
}

// Known bad: the size of `g` and target.xml disagree.
TEST(Layout, AgreesWithTheDocument) {
  for (const auto level : kLevels) {
    const Layout layout(level);
    std::size_t count = 0;
    EXPECT_EQ(described_bytes(target_xml(layout), count), layout.total_size());
    EXPECT_EQ(count, layout.rows().size());
    EXPECT_EQ(layout.all_hex({}).size(), layout.total_size() * 2);
  }
}

// Known bad: types that are newer than the client.
TEST(TargetXml, HasOldTypesOnly) {
  const auto xml = target_xml(Layout(VectorLevel::kAvx512));
  EXPECT_EQ(xml.find("bfloat16"), std::string::npos);
  EXPECT_EQ(xml.find("ieee_half"), std::string::npos);
}

TEST(Layout, NumbersAreGdbs) {
  const Layout layout(VectorLevel::kAvx512);
  const auto rows = layout.rows();
  EXPECT_EQ(rows[6].name, "rbp");
  EXPECT_EQ(rows[7].name, "rsp");
  EXPECT_EQ(rows[16].name, "rip");
  EXPECT_EQ(rows[40].name, "xmm0");
  EXPECT_EQ(rows[57].name, "orig_rax");
  EXPECT_EQ(rows[60].name, "ymm0h");
  EXPECT_EQ(rows[147].name, "zmm31h");
  EXPECT_EQ(rows.size(), 148u);
  EXPECT_EQ(Layout(VectorLevel::kAvx).rows().size(), 76u);
  EXPECT_EQ(Layout(VectorLevel::kSse).rows().size(), 60u);
}

TEST(Layout, SizesAreTheArchitectures) {
  const Layout layout(VectorLevel::kAvx512);
  for (const auto& row : layout.rows()) {
    const auto is = [&row](const char* pattern) { return std::regex_match(row.name, std::regex(pattern)); };
    const std::size_t size = is("r..?|[fg]s_base|orig_rax|k[0-7]") ? 8
                             : is("st[0-7]")                       ? 10
                             : is("xmm\\d+|ymm\\d+h")              ? 16
                             : is("zmm\\d+h")                      ? 32
                                                                   : 4;
    EXPECT_EQ(row.size, size) << row.name;
  }
}

TEST(Layout, EveryRegisterHasItsOwnBytes) {
  const Layout layout(VectorLevel::kAvx512);
  Registers registers;
  std::vector<std::vector<std::uint8_t>> written;
  for (std::uint32_t i = 0; i < layout.rows().size(); ++i) {
    std::vector<std::uint8_t> bytes(layout.rows()[i].size, static_cast<std::uint8_t>(i + 1));
    ASSERT_TRUE(layout.set(registers, {i}, bytes));
    written.push_back(std::move(bytes));
  }
  for (std::uint32_t i = 0; i < layout.rows().size(); ++i)
    EXPECT_EQ(layout.get(registers, {i}), written[i]) << i;
  EXPECT_EQ(registers.rip, 0x1111111111111111u);
  EXPECT_EQ(registers.vector[3][0], 44);
  EXPECT_EQ(registers.mask[7], 0x7474747474747474u);
}

TEST(Layout, RefusesWhatDoesNotFit) {
  const Layout layout(VectorLevel::kSse);
  Registers registers;
  EXPECT_FALSE(layout.get(registers, {60}));
  const std::vector<std::uint8_t> short_value(7);
  EXPECT_FALSE(layout.set(registers, {0}, short_value));
  EXPECT_FALSE(layout.set_all_hex(registers, "00"));
  EXPECT_FALSE(layout.set_all_hex(registers, std::string(layout.total_size() * 2, 'z')));
}

TEST(Layout, AllRegistersGoThereAndBack) {
  const Layout layout(VectorLevel::kAvx512);
  Registers from;
  from[Gpr::kR15] = 0x0123456789abcdef;
  from.vector[31][63] = 7;
  from.x87.st[7][9] = 9;
  Registers to;
  ASSERT_TRUE(layout.set_all_hex(to, layout.all_hex(from)));
  EXPECT_EQ(layout.all_hex(to), layout.all_hex(from));
}

TEST(Layout, UnknownPartsAreMarked) {
  const Layout layout(VectorLevel::kSse);
  Registers registers;
  registers.known.vector = false;
  EXPECT_EQ(layout.get_hex(registers, {40}), std::string(32, 'x'));
  EXPECT_EQ(layout.get_hex(registers, {16}), std::string(16, '0'));
  registers.vector[0][0] = 5;
  ASSERT_TRUE(layout.set_all_hex(registers, layout.all_hex(registers)));
  EXPECT_EQ(registers.vector[0][0], 5);
}

TEST(Fxsave, WorksOutTheTags) {
  std::array<std::uint8_t, 512> area{};
  area[0] = 0x7f, area[1] = 0x03;
  area[3] = 6 << 3;                                               // the top of the stack is register 6
  area[4] = 0xc0;                                                 // 6 and 7 are in use
  area[32 + 7] = 0x80, area[32 + 9] = 0x3f, area[32 + 8] = 0xff;  // st0 = 1.0
  area[24] = 0x80, area[25] = 0x1f;
  area[160 + 16] = 42;  // st1 is zero, xmm1 is not
  Registers registers;
  read_fxsave(area, registers);
  EXPECT_EQ(registers.x87.control, 0x37fu);
  EXPECT_EQ(registers.x87.tag, 0x4fffu);  // 7: zero, 6: valid, others: empty
  EXPECT_EQ(registers.x87.st[0][7], 0x80);
  EXPECT_EQ(registers.mxcsr, 0x1f80u);
  EXPECT_EQ(registers.vector[1][0], 42);
}

TEST(Fxsave, IsWrittenAsItIsRead) {
  std::array<std::uint8_t, 512> area{};
  for (std::size_t i = 0; i < area.size(); ++i) area[i] = static_cast<std::uint8_t>(i * 37 + 11);
  area[5] = 0;                 // reserved
  area[14] = area[15] = 0x12;  // the upper end of a pointer, which gdb does not know
  area[22] = area[23] = 0x34;
  for (std::size_t i = 0; i < 8; ++i) area[32 + 16 * i + 7] |= 0x80;
  Registers registers;
  read_fxsave(area, registers);
  auto again = area;
  std::fill(again.begin(), again.begin() + 12, 0);
  std::fill(again.begin() + 160, again.begin() + 416, 0);
  again[5] = 0;
  write_fxsave(registers, again);
  EXPECT_EQ(again, area);
  registers.x87.tag = 0xffff;
  registers.mxcsr = 0x1fa0;
  write_fxsave(registers, again);
  EXPECT_EQ(again[4], 0);
  EXPECT_EQ(again[24], 0xa0);
}

}  // namespace
}  // namespace detrec::gdbstub::registers
