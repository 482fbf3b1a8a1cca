// Registers to gdb and back.
#include "server/session/registers.h"

#include <gtest/gtest.h>

namespace detrec::server {
namespace {

TEST(SessionRegisters, ComeBackAsTheyWere) {
  gdbstub::Registers from;
  for (std::size_t i = 0; i < 16; ++i) from.gpr[i] = i * 0x0101'0101'0101'0101;
  from.rip = 0x1234;
  from.rflags = 0x246;
  from.fs_base = 0x5678;
  from.gs_base = 0x9abc;
  from.mxcsr = 0x1fa0;
  from.x87.status = 7 << 11;
  from.x87.tag = 0x3fff;  // physical register 7, which is st0, is in use
  from.x87.st[0] = {0, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0x3f};
  const std::size_t vectors = vector_level() == gdbstub::VectorLevel::kAvx512 ? 32 : 16;
  const std::size_t bytes = vector_level() == gdbstub::VectorLevel::kSse   ? 16
                            : vector_level() == gdbstub::VectorLevel::kAvx ? 32
                                                                           : 64;
  for (std::size_t i = 0; i < vectors; ++i) {
    for (std::size_t k = 0; k < bytes; ++k) from.vector[i][k] = static_cast<std::uint8_t>(i * 64 + k + 1);
  }
  wire::DebugRegisters between{};
  convert_registers(from, between);
  const gdbstub::Registers to = convert_registers(between);
  EXPECT_EQ(to.gpr, from.gpr);
  EXPECT_EQ(to.rip, from.rip);
  EXPECT_EQ(to.rflags, from.rflags);
  EXPECT_EQ(to.fs_base, from.fs_base);
  EXPECT_EQ(to.gs_base, from.gs_base);
  EXPECT_EQ(to.mxcsr, from.mxcsr);
  EXPECT_EQ(to.x87.status, from.x87.status);
  EXPECT_EQ(to.x87.tag, from.x87.tag);
  EXPECT_EQ(to.x87.st, from.x87.st);
  EXPECT_EQ(to.vector, from.vector);
}

}  // namespace
}  // namespace detrec::server
