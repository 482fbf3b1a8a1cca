// Files over vFile, /proc files and lists.
#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>

#include "gdbstub/documents/link_maps.h"
#include "gdbstub/documents/lists.h"
#include "gdbstub/documents/proc_files.h"
#include "gdbstub/documents/xml.h"
#include "tests/gdb/unit/fake_target.h"

namespace detrec::gdbstub {
namespace {

std::string open_packet(std::string_view path, std::string_view flags = "0") {
  return "vFile:open:" + packet::hex_text(path) + "," + std::string(flags) + ",0";
}

TEST(HostIo, ReadsARecordedFile) {
  Rig rig;
  rig.target.fake_files.content["/f"] = "some#text";
  EXPECT_EQ(rig.ask("vFile:setfs:0"), "F0");
  EXPECT_EQ(rig.ask(open_packet("/f")), "F0");
  EXPECT_EQ(rig.ask("vFile:pread:0,100,0"), "F9;some}\x03text");
  EXPECT_EQ(rig.ask("vFile:pread:0,3,1"), "F3;ome");
  EXPECT_EQ(rig.ask("vFile:pread:0,100,50"), "F0;");
  const auto stat = rig.ask("vFile:fstat:0");
  EXPECT_EQ(stat.substr(0, 4), "F40;");
  EXPECT_EQ(stat.size(), 4u + 64u);
  EXPECT_EQ(stat.substr(4 + 8, 4), std::string("\0\0\x81\xa4", 4));        // mode
  EXPECT_EQ(stat.substr(4 + 28, 8), std::string("\0\0\0\0\0\0\0\x9", 8));  // size
  EXPECT_EQ(rig.ask("vFile:stat:" + packet::hex_text("/f")), stat);
  EXPECT_EQ(rig.ask("vFile:close:0"), "F0");
  EXPECT_EQ(rig.ask("vFile:close:0"), "F-1,9");
  EXPECT_EQ(rig.ask("vFile:pread:0,1,0"), "F-1,9");
}

TEST(HostIo, ErrorsAreTheProtocols) {
  Rig rig;
  EXPECT_EQ(rig.ask(open_packet("/none")), "F-1,2");
  rig.target.fake_files.content["/f"] = "";
  for (const char* flags : {"1", "2", "201", "400", "8"})
    EXPECT_EQ(rig.ask(open_packet("/f", flags)), "F-1,1e");
  EXPECT_EQ(rig.ask("vFile:pwrite:0,0,abc"), "F-1,1e");
  EXPECT_EQ(rig.ask("vFile:unlink:2f66"), "F-1,1e");
  EXPECT_EQ(rig.ask("vFile:readlink:2f66"), "F-1,16");
  EXPECT_EQ(rig.ask("vFile:open:2f6"), "F-1,16");
  EXPECT_EQ(rig.ask("vFile:open"), "F-1,16");
  EXPECT_EQ(rig.ask("vFile:pread:0,1"), "F-1,16");
  for (std::size_t i = 0; i < OpenFiles::kMaxFiles; ++i) rig.ask(open_packet("/f"));
  EXPECT_EQ(rig.ask(open_packet("/f")), "F-1,18");  // EMFILE
}

TEST(HostIo, ProcFilesOfTheRecordedProcess) {
  Rig rig;
  rig.target.fake_files.content["/bin/prog"] = "ELF";
  EXPECT_EQ(rig.ask(open_packet("/proc/100/cmdline")), "F0");
  EXPECT_EQ(rig.ask("vFile:pread:0,100,0"), std::string("F9;prog\0a b\0", 12));
  EXPECT_EQ(rig.ask(open_packet("/proc/100/task/100/comm")), "F1");
  EXPECT_EQ(rig.ask("vFile:pread:1,100,0"), "F5;prog\n");
  EXPECT_EQ(rig.ask(open_packet("/proc/self/exe")), "F2");
  EXPECT_EQ(rig.ask("vFile:pread:2,100,0"), "F3;ELF");
  EXPECT_EQ(rig.ask("vFile:readlink:" + packet::hex_text("/proc/100/exe")), "F9;/bin/prog");
  EXPECT_EQ(rig.ask("vFile:readlink:" + packet::hex_text("/proc/100/cwd")), "F4;/tmp");
  EXPECT_EQ(rig.ask(open_packet("/proc/100/pagemap")), "F-1,2");
  EXPECT_EQ(rig.ask(open_packet("/proc/7/maps")), "F-1,2");  // not recorded
}

TEST(ProcFiles, Maps) {
  Rig rig;
  rig.target.info.mappings = {
      {{{0x400000}, {0x401000}}, true, false, true, false, 0x1000, 8, 1, 42, "/bin/prog"},
      {{{0x7fff00000000}, {0x7fff00001000}}, true, true, false, true}};
  const auto text = documents::proc_file("maps", rig.target.info, rig.target);
  EXPECT_EQ(text, "00400000-00401000 r-xp 00001000 08:01 42 " + std::string(32, ' ') + "/bin/prog\n" +
                      "7fff00000000-7fff00001000 rw-s 00000000 00:00 0 \n");
  const auto smaps = documents::proc_file("smaps", rig.target.info, rig.target);
  EXPECT_NE(smaps->find("VmFlags: rd ex mr"), std::string::npos);
  const auto stat = documents::proc_file("stat", rig.target.info, rig.target);
  EXPECT_EQ(std::count(stat->begin(), stat->end(), ' '), 51);
  EXPECT_EQ(stat->substr(0, 15), "100 (prog) t 1 ");
}

TEST(ProcFiles, Paths) {
  const auto parse = [](std::string_view path) { return documents::parse_proc_path(path, {5}); };
  EXPECT_EQ(parse("/proc/12/maps")->file, "maps");
  EXPECT_EQ(parse("/proc/12/task/13/maps")->file, "maps");
  EXPECT_EQ(parse("/proc/self/maps")->process, ProcessId{5});
  for (const char* path : {"/proc", "/proc/", "/proc/x/maps", "/proc/-1/maps", "/proc/99999999999/maps",
                           "/etc/passwd", "/proc/12/task/x/maps"}) {
    EXPECT_FALSE(parse(path)) << path;
  }
}

TEST(Lists, Libraries) {
  const LibraryList list{{0x10}, {{"/lib/<x>.so", {0x20}, {0x30}, {0x40}}}};
  const auto xml = documents::libraries_xml(list);
  EXPECT_NE(xml.find("main-lm=\"0x10\""), std::string::npos);
  EXPECT_NE(xml.find("<library name=\"/lib/&lt;x&gt;.so\" lm=\"0x20\" l_addr=\"0x30\" l_ld=\"0x40\""),
            std::string::npos);
  EXPECT_EQ(documents::xml_escape("a\x01'\""), "a?&apos;&quot;");
}

/// A target whose memory holds a dynamic linker's list.
struct Linked : FakeTarget {
  std::vector<std::uint8_t> vector;

  Result<std::vector<std::uint8_t>> auxv(ProcessId) override { return vector; }
  template <typename T>
  void put(std::uint64_t address, const T& value) {
    std::memcpy(memory.data() + (address - memory_at.value), &value, sizeof value);
  }
  void add_aux(std::uint64_t type, std::uint64_t value) {
    for (const auto word : {type, value}) {
      for (int i = 0; i < 8; ++i) vector.push_back(static_cast<std::uint8_t>(word >> (8 * i)));
    }
  }
  Linked() {
    add_aux(AT_PHDR, 0x1040);
    add_aux(AT_PHNUM, 2);
    add_aux(AT_NULL, 0);
    put(0x1040, Elf64_Phdr{PT_PHDR, 0, 0, 0x40, 0, 0, 0, 0});  // so the load bias is 0x1000
    put(0x1040 + sizeof(Elf64_Phdr), Elf64_Phdr{PT_DYNAMIC, 0, 0, 0x200, 0, 0, 0, 0});
    put(0x1200, Elf64_Dyn{DT_NEEDED, {1}});
    put(0x1210, Elf64_Dyn{DT_DEBUG, {0x1300}});
    put(0x1308, std::uint64_t{0x1400});  // r_map
    link(0x1400, 0x1000, 0x1600, 0x1200, 0x1440);
    link(0x1440, 0x7000, 0x1600, 0x7200, 0);
    std::memcpy(memory.data() + 0x600, "/lib/a.so", 10);
  }
  void link(std::uint64_t at, std::uint64_t bias, std::uint64_t name, std::uint64_t dynamic,
            std::uint64_t next) {
    put(at, std::array<std::uint64_t, 4>{bias, name, dynamic, next});
  }
};

TEST(LinkMaps, AreWalked) {
  Linked target;
  const auto list = documents::walk_link_maps(target, {100});
  ASSERT_TRUE(list);
  EXPECT_EQ(list.value().main_link_map, Address{0x1400});
  ASSERT_EQ(list.value().libraries.size(), 1u);
  EXPECT_EQ(list.value().libraries[0].path, "/lib/a.so");
  EXPECT_EQ(list.value().libraries[0].load_bias, Address{0x7000});
}

TEST(LinkMaps, BrokenMemoryEnds) {
  Linked target;
  target.link(0x1440, 0x7000, 0x1600, 0x7200, 0x1440);  // in a circle
  EXPECT_EQ(documents::walk_link_maps(target, {100}).value().libraries.size(), 10'000u);
  target.link(0x1440, 0x7000, 0xffffffffffffff00, 0x7200, 0xfffffffffffffff0);
  EXPECT_EQ(documents::walk_link_maps(target, {100}).value().libraries.size(), 1u);
  target.put(0x1210, Elf64_Dyn{DT_DEBUG, {0}});  // not yet filled in
  EXPECT_TRUE(documents::walk_link_maps(target, {100}).value().libraries.empty());
  target.vector.clear();
  EXPECT_TRUE(documents::walk_link_maps(target, {100}).value().libraries.empty());
}

}  // namespace
}  // namespace detrec::gdbstub
