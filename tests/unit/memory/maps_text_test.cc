#include "trace/guest/procfs/maps_text.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

#include <fstream>
#include <string>
#include <vector>

namespace detrec::guest::procfs {
namespace {

std::string formatted(const MapsRow& row) {
  std::vector<char> text(kLongestRow);
  return std::string(text.data(), format_row(text.data(), row));
}

TEST(MapsText, WritesWhatTheKernelWrites) {
  // Odd rows, too: shared, inaccessible, with a long name.
  void* shared = mmap(nullptr, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  void* none = mmap(nullptr, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::ifstream maps("/proc/self/maps");
  int rows = 0;
  for (std::string line; std::getline(maps, line); ++rows) {
    MapsRow row;
    ASSERT_TRUE(parse_row(line.data(), line.size(), row)) << line;
    EXPECT_EQ(formatted(row), line + "\n");
  }
  EXPECT_GT(rows, 10);
  munmap(shared, 4096);
  munmap(none, 8192);
}

TEST(MapsText, FillsInEveryField) {
  MapsRow row;
  const std::string line =
      "7f4de205a000-7f4de21b0000 rwxs 00026000 fe:1a 332835                     /usr/lib/lib c.so (deleted)";
  ASSERT_TRUE(parse_row(line.data(), line.size(), row));
  EXPECT_EQ(row.begin, 0x7f4de205a000u);
  EXPECT_EQ(row.end, 0x7f4de21b0000u);
  EXPECT_EQ(row.prot, 7u);
  EXPECT_TRUE(row.shared);
  EXPECT_EQ(row.offset, 0x26000u);
  EXPECT_EQ(row.major, 0xfeu);
  EXPECT_EQ(row.minor, 0x1au);
  EXPECT_EQ(row.inode, 332835u);
  EXPECT_EQ(std::string(row.name, row.name_bytes), "/usr/lib/lib c.so (deleted)");
  EXPECT_EQ(formatted(row), line + "\n");
}

TEST(MapsText, RefusesOtherLines) {
  MapsRow row;
  for (std::string line : {"", "Size:                  4 kB", "VmFlags: rd mr mw me", "7f4de205a000",
                           "7f4de205a000-7f4de21b0000 r"})
    EXPECT_FALSE(parse_row(line.data(), line.size(), row)) << line;
}

TEST(MapsText, TakesDeviceNumbersApart) {
  for (auto [major_number, minor_number] :
       {std::pair{8u, 1u}, {254u, 0u}, {0u, 38u}, {259u, 1048575u}, {4095u, 256u}}) {
    dev_t device = makedev(major_number, minor_number);
    EXPECT_EQ(major_of(device), major_number);
    EXPECT_EQ(minor_of(device), minor_number);
  }
}

}  // namespace
}  // namespace detrec::guest::procfs
