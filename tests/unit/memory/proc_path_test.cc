#include "trace/guest/procfs/proc_path.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace detrec::guest::procfs {
namespace {

ProcFile file_of(const char* path) {
  return may_concern(path) ? parse_proc_path(path).file : ProcFile::kNone;
}

TEST(ProcPath, RecognisesTheAnsweredFiles) {
  EXPECT_EQ(file_of("/proc/self/exe"), ProcFile::kExe);
  EXPECT_EQ(file_of("/proc/self/maps"), ProcFile::kMaps);
  EXPECT_EQ(file_of("/proc/thread-self/maps"), ProcFile::kMaps);
  EXPECT_EQ(file_of("/proc/123/smaps"), ProcFile::kSmaps);
  EXPECT_EQ(file_of("/proc/self/task/77/smaps_rollup"), ProcFile::kSmapsRollup);
  EXPECT_EQ(file_of("/proc/self/auxv"), ProcFile::kAuxv);
  EXPECT_EQ(file_of("/proc/self/cmdline"), ProcFile::kCmdline);
  EXPECT_EQ(file_of("/proc/self/environ"), ProcFile::kEnviron);
  EXPECT_EQ(file_of("/proc/self/mem"), ProcFile::kMem);
  EXPECT_EQ(file_of("/proc/self/stat"), ProcFile::kStat);
  EXPECT_EQ(file_of("/proc/self/numa_maps"), ProcFile::kNumaMaps);
}

TEST(ProcPath, KnowsWhoIsMeant) {
  ProcPath p = parse_proc_path("/proc/123/task/456/maps");
  EXPECT_EQ(p.owner, 123);
  EXPECT_EQ(p.task, 456);
  EXPECT_FALSE(p.thread);
  p = parse_proc_path("/proc/thread-self/status");
  EXPECT_EQ(p.owner, 0);
  EXPECT_TRUE(p.thread);
}

TEST(ProcPath, ReadsOddSpellings) {
  for (const char* path :
       {"//proc/self/exe", "/proc//self/./exe", "/proc/self/../self/exe", "/./proc/self/exe",
        "/usr/../proc/self/exe", "/proc/self/task/../exe", "/proc/self/exe/"})
    EXPECT_EQ(file_of(path), ProcFile::kExe) << path;
}

TEST(ProcPath, DescriptorsAndTheirFolders) {
  ProcPath p = parse_proc_path("/proc/self/fd/1021");
  EXPECT_EQ(p.file, ProcFile::kDescriptor);
  EXPECT_EQ(p.descriptor, 1021);
  EXPECT_TRUE(p.link);
  p = parse_proc_path("/proc/self/fdinfo/7");
  EXPECT_EQ(p.descriptor, 7);
  EXPECT_FALSE(p.link);
  p = parse_proc_path("/dev/fd/7");
  EXPECT_EQ(p.file, ProcFile::kDescriptor);
  EXPECT_TRUE(p.link);
  p = parse_proc_path("/proc/self/fd/7/a/b/c/d/e/f/g");
  EXPECT_EQ(p.file, ProcFile::kDescriptor);
  EXPECT_FALSE(p.link);
  EXPECT_EQ(file_of("/proc/self/fd/7/below"), ProcFile::kDescriptor);
  EXPECT_EQ(parse_proc_path("/proc/self/fd").file, ProcFile::kDescriptorFolder);
  EXPECT_EQ(parse_proc_path("/proc/55/task/56/fdinfo/").file, ProcFile::kDescriptorFolder);
}

TEST(ProcPath, LeavesTheRestAlone) {
  for (const char* path :
       {"/proc", "/proc/self", "/proc/self/", "/proc/maps", "/proc/self/comm", "/proc/self/exe/x",
        "/proc/self/mapsx", "/proc/selfish/maps", "/proc/0/maps", "/proc/12x/maps", "/tmp/proc/self/maps",
        "/proc/self/fd/x", "/proc/self/fd/99999999999", "/proc/self/task/x/maps", "/proc/cpuinfo",
        "proc/self/maps", "", "/"})
    EXPECT_EQ(parse_proc_path(path).file, ProcFile::kNone) << path;
}

TEST(ProcPath, MostPathsAreDismissedCheaply) {
  for (const char* path : {"/etc/passwd", "/usr/lib/x86_64-linux-gnu/libc.so.6", "file.txt", "dir/file"})
    EXPECT_FALSE(may_concern(path)) << path;
  for (const char* path : {"maps", "self/exe", "fd/5", "5", ""}) EXPECT_TRUE(may_concern(path)) << path;
}

TEST(ProcPath, RandomPathsAreSafe) {
  std::mt19937 random(3);
  const char* pieces[] = {"/",  "proc", "self", "fd",  "..",          ".",   "task",
                          "12", "maps", "exe",  "fd/", "thread-self", "dev", ""};
  for (int i = 0; i < 200'000; ++i) {
    std::string path;
    for (auto n = random() % 14; n > 0; --n) path += pieces[random() % std::size(pieces)];
    ProcPath p = parse_proc_path(path.c_str());
    EXPECT_TRUE(p.file == ProcFile::kNone || may_concern(path.c_str())) << path;
    EXPECT_TRUE(p.file != ProcFile::kDescriptor || p.descriptor >= 0) << path;
  }
}

}  // namespace
}  // namespace detrec::guest::procfs
