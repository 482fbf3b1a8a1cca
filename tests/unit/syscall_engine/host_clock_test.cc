#include "trace/guest/syscall/host_clock.h"

#include <gtest/gtest.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

namespace detrec::guest::syscall {
namespace {

i64 ns(i64 seconds, i64 nanoseconds) { return seconds * 1'000'000'000 + nanoseconds; }

/// The host's clocks lie between two readings of the C library's.
void expect_host_clocks() {
  for (i32 clock :
       {CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_MONOTONIC_COARSE, CLOCK_PROCESS_CPUTIME_ID}) {
    timespec before, after;
    Timespec now;
    clock_gettime(clock, &before);
    ASSERT_EQ(host_clock_gettime(clock, now), 0) << clock;
    clock_gettime(clock, &after);
    EXPECT_LE(ns(before.tv_sec, before.tv_nsec), ns(now.seconds, now.nanoseconds)) << clock;
    EXPECT_GE(ns(after.tv_sec, after.tv_nsec), ns(now.seconds, now.nanoseconds)) << clock;
    timespec resolution;
    Timespec found;
    clock_getres(clock, &resolution);
    ASSERT_EQ(host_clock_getres(clock, found), 0) << clock;
    EXPECT_EQ(found.nanoseconds, resolution.tv_nsec) << clock;
  }
  Timespec now;
  EXPECT_EQ(host_clock_gettime(12345, now), -EINVAL);
  u32 cpu = ~0u, node = ~0u;
  EXPECT_EQ(host_getcpu(cpu, node), 0);
  EXPECT_LT(cpu, static_cast<u32>(sysconf(_SC_NPROCESSORS_CONF)));
}

TEST(HostClock, ByTheVdso) {
  u64 vdso = getauxval(AT_SYSINFO_EHDR);
  if (vdso == 0) GTEST_SKIP() << "this kernel maps no vdso";
  start_host_clock(vdso);
  expect_host_clocks();
}

TEST(HostClock, BySystemCalls) {
  start_host_clock(0);
  expect_host_clocks();
}

int fixed_gettime(i32, Timespec* out) {
  *out = {42, 43};
  return 0;
}

enum class Hash { kSysV, kGnu };

/// An image with the shape of a vdso (one segment, offsets are addresses) and these symbols; `clock` is what
/// __vdso_clock_gettime lies at, relative to the image.
class Image {
 public:
  Image(Hash hash, std::vector<std::string> names, const void* clock) : bytes_(4096, 0) {
    auto* header = at<Elf64_Ehdr>(0);
    header->e_phoff = kPhdrs;
    header->e_phnum = 2;
    *at<Elf64_Phdr>(kPhdrs) = {PT_LOAD, PF_R | PF_X, 0, kBias, kBias, 4096, 4096, 4096};
    *at<Elf64_Phdr>(kPhdrs + sizeof(Elf64_Phdr)) = {PT_DYNAMIC,       PF_R, kDynamic, kBias + kDynamic,
                                                    kBias + kDynamic, 96,   96,       8};
    Elf64_Dyn dynamic[4] = {};
    dynamic[0] = {DT_STRTAB, {kBias + kStrings}};
    dynamic[1] = {DT_SYMTAB, {kBias + kSymbols}};
    dynamic[2] = {hash == Hash::kSysV ? DT_HASH : DT_GNU_HASH, {kBias + kHash}};
    std::memcpy(at<Elf64_Dyn>(kDynamic), dynamic, sizeof dynamic);
    u32 string = 1, count = 1;
    for (const std::string& name : names) {
      std::strcpy(at<char>(kStrings + string), name.c_str());
      Elf64_Sym* symbol = at<Elf64_Sym>(kSymbols + count * sizeof(Elf64_Sym));
      symbol->st_name = string;
      symbol->st_shndx = name == "__vdso_undefined" ? SHN_UNDEF : 1;
      symbol->st_value = reinterpret_cast<u64>(clock) - reinterpret_cast<u64>(bytes_.data()) + kBias;
      string += static_cast<u32>(name.size() + 1);
      ++count;
    }
    auto* words = at<u32>(kHash);
    if (hash == Hash::kSysV) {
      words[0] = 1;
      words[1] = count;
    } else {
      // Two buckets: one empty, one with all symbols in a chain that ends at the last.
      u32 table[] = {2, 1, 1, 0, /* bloom */ 0, 0, /* buckets */ 0, 1};
      std::memcpy(words, table, sizeof table);
      for (u32 i = 1; i < count; ++i) words[8 + i - 1] = 2 * i + (i == count - 1 ? 1 : 0);
    }
  }
  u64 address() const { return reinterpret_cast<u64>(bytes_.data()); }

 private:
  static constexpr u64 kBias = 0x7000, kPhdrs = 64, kDynamic = 256, kHash = 512, kSymbols = 1024,
                       kStrings = 2048;
  template <class T>
  T* at(u64 offset) {
    return reinterpret_cast<T*>(bytes_.data() + offset);
  }
  alignas(8) std::vector<u8> bytes_;
};

TEST(HostClock, FindsFunctionsByEitherHashTable) {
  for (Hash hash : {Hash::kSysV, Hash::kGnu}) {
    Image image(hash, {"other", "__vdso_clock_gettimes", "__vdso_clock_gettime"},
                reinterpret_cast<void*>(&fixed_gettime));
    start_host_clock(image.address());
    Timespec now;
    EXPECT_EQ(host_clock_gettime(CLOCK_REALTIME, now), 0);
    EXPECT_EQ(now.seconds, 42);
    EXPECT_EQ(now.nanoseconds, 43);
  }
  start_host_clock(0);
}

TEST(HostClock, DoesWithoutWhatIsNotThere) {
  Image image(Hash::kGnu, {"other", "__vdso_getcpus"}, nullptr);
  start_host_clock(image.address());
  expect_host_clocks();
  start_host_clock(0);
}

}  // namespace
}  // namespace detrec::guest::syscall
