#include "trace/guest/syscall/host_clock.h"

#include <linux/elf.h>
#include <linux/time.h>

#include "trace/guest/base/string.h"
#include "trace/guest/base/syscall.h"

namespace detrec::guest::syscall {
namespace {

constexpr i64 kDtGnuHash = 0x6ffffef5;  // System V ABI, GNU extension

using ClockFunction = int(i32, Timespec*);
using CpuFunction = int(u32*, u32*, void*);

struct Functions {
  ClockFunction* clock_gettime;
  ClockFunction* clock_getres;
  CpuFunction* getcpu;
};
Functions functions;

/// The dynamic symbols of an image mapped at `base`.
struct Symbols {
  const Elf64_Sym* table = nullptr;
  const char* names = nullptr;
  u32 count = 0;
};

/// Number of symbols by the GNU hash table: one past the end of the longest chain.
u32 count_by_gnu_hash(const u32* hash) {
  u32 buckets = hash[0], first = hash[1], bloom_words = hash[2];
  const u32* bucket = hash + 4 + 2 * bloom_words;
  const u32* chain = bucket + buckets;
  u32 last = 0;
  for (u32 i = 0; i < buckets; ++i) last = bucket[i] > last ? bucket[i] : last;
  if (last < first) return first;
  while ((chain[last - first] & 1) == 0) ++last;
  return last + 1;
}

const Elf64_Phdr* find_header(u64 base, u32 type) {
  auto* header = reinterpret_cast<const Elf64_Ehdr*>(base);
  auto* program = reinterpret_cast<const Elf64_Phdr*>(base + header->e_phoff);
  for (int i = 0; i < header->e_phnum; ++i) {
    if (program[i].p_type == type) return &program[i];
  }
  return nullptr;
}

/// Difference between link-time addresses and where the image lies.
u64 bias_of(u64 base) {
  const Elf64_Phdr* load = find_header(base, PT_LOAD);
  return load != nullptr ? base + load->p_offset - load->p_vaddr : base;
}

Symbols read_symbols(u64 base) {
  Symbols symbols;
  const Elf64_Phdr* dynamic = find_header(base, PT_DYNAMIC);
  if (dynamic == nullptr) return symbols;
  u64 bias = bias_of(base);
  for (auto* entry = reinterpret_cast<const Elf64_Dyn*>(base + dynamic->p_offset); entry->d_tag != DT_NULL;
       ++entry) {
    u64 at = bias + entry->d_un.d_ptr;
    if (entry->d_tag == DT_SYMTAB) symbols.table = reinterpret_cast<const Elf64_Sym*>(at);
    if (entry->d_tag == DT_STRTAB) symbols.names = reinterpret_cast<const char*>(at);
    if (entry->d_tag == DT_HASH) symbols.count = reinterpret_cast<const u32*>(at)[1];
    if (entry->d_tag == kDtGnuHash && symbols.count == 0) {
      symbols.count = count_by_gnu_hash(reinterpret_cast<const u32*>(at));
    }
  }
  return symbols;
}

template <class F>
void bind(u64 base, const Symbols& symbols, const char* name, F*& function) {
  for (u32 i = 0; i < symbols.count; ++i) {
    const Elf64_Sym& symbol = symbols.table[i];
    if (symbol.st_shndx == SHN_UNDEF || strcmp(symbols.names + symbol.st_name, name) != 0) continue;
    function = reinterpret_cast<F*>(bias_of(base) + symbol.st_value);
    return;
  }
}

}  // namespace

void start_host_clock(u64 vdso) {
  functions = {};
  if (vdso == 0) return;
  Symbols symbols = read_symbols(vdso);
  if (symbols.table == nullptr || symbols.names == nullptr) return;
  bind(vdso, symbols, "__vdso_clock_gettime", functions.clock_gettime);
  bind(vdso, symbols, "__vdso_clock_getres", functions.clock_getres);
  bind(vdso, symbols, "__vdso_getcpu", functions.getcpu);
}

SysResult host_clock_gettime(i32 clock, Timespec& out) {
  if (functions.clock_gettime != nullptr) return functions.clock_gettime(clock, &out);
  return raw_syscall(__NR_clock_gettime, static_cast<u64>(clock), arg(&out));
}

SysResult host_clock_getres(i32 clock, Timespec& out) {
  if (functions.clock_getres != nullptr) return functions.clock_getres(clock, &out);
  return raw_syscall(__NR_clock_getres, static_cast<u64>(clock), arg(&out));
}

SysResult host_getcpu(u32& cpu, u32& node) {
  if (functions.getcpu != nullptr) return functions.getcpu(&cpu, &node, nullptr);
  return raw_syscall(__NR_getcpu, arg(&cpu), arg(&node));
}

i64 host_monotonic_ns() {
  Timespec now;
  host_clock_gettime(CLOCK_MONOTONIC, now);
  return now.seconds * 1'000'000'000 + now.nanoseconds;
}

}  // namespace detrec::guest::syscall
