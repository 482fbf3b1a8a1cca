#include "trace/guest/run/cpu_model.h"

#include "trace/guest/process.h"

namespace detrec::guest::run {
namespace {

/// The x86-64 psABI's levels that a recording can be limited to; 0: the host's processor.
u32 level() { return process().launch != nullptr ? process().launch->cpu_level : 0; }

/// x87, SSE, AVX, the three AVX-512 components. Not: MPX, PT, PKRU, CET, UINTR, LBR, HWP, AMX, APX.
constexpr u64 kModelXcr0 = 0xe7;

CpuidResult host_cpuid(u32 leaf, u32 subleaf) {
  CpuidResult r;
  asm volatile("cpuid" : "=a"(r.eax), "=b"(r.ebx), "=c"(r.ecx), "=d"(r.edx) : "a"(leaf), "c"(subleaf));
  return r;
}

u64 host_xcr0() {
  u32 lo, hi;
  asm volatile("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
  return static_cast<u64>(hi) << 32 | lo;
}

/// State components of a level.
u64 level_xcr0() {
  switch (level()) {
    case 2:
      return 3;
    case 3:
      return 7;
    default:
      return kModelXcr0;
  }
}

template <class... Bits>
constexpr u32 mask(Bits... b) {
  return ((1u << b) | ... | 0u);
}

/// Bytes that an xsave area for the components of `features` takes, in the standard or the compacted form.
u32 area_size(u64 features, bool compacted) {
  u32 size = 512 + 64;
  for (u32 i = 2; i < 63; ++i) {
    if ((features >> i & 1) == 0) continue;
    CpuidResult c = host_cpuid(0xd, i);
    if (compacted) {
      if ((c.ecx & 2) != 0) size = (size + 63) & ~63u;
      size += c.eax;
    } else if (c.ebx + c.eax > size) {
      size = c.ebx + c.eax;
    }
  }
  return size;
}

CpuidResult xsave_leaf(u32 subleaf) {
  CpuidResult r = host_cpuid(0xd, subleaf);
  u64 features = guest_xcr0();
  if (subleaf == 0) {
    r.eax = static_cast<u32>(features);
    r.edx = static_cast<u32>(features >> 32);
    r.ebx = r.ecx = area_size(features, false);
  } else if (subleaf == 1) {
    r.eax &= mask(0, 1);  // xsaveopt, xsavec; not xgetbv with ecx=1, xsaves, xfd
    r.ebx = area_size(features, true);
    r.ecx = r.edx = 0;
  } else if (subleaf >= 63 || (features >> subleaf & 1) == 0) {
    r = {};
  }
  return r;
}

}  // namespace

namespace {
u64 known_xcr0 = 0;
}  // namespace

u64 guest_xcr0() {
  if (known_xcr0 == 0) {
    bool has_xsave = (host_cpuid(1, 0).ecx >> 27 & 1) != 0;
    known_xcr0 = has_xsave ? host_xcr0() & level_xcr0() : 3;
  }
  return known_xcr0;
}

bool narrow_guest_xcr0(u64 recorded) {
  if ((recorded & ~guest_xcr0()) != 0) return false;
  known_xcr0 = recorded;
  return true;
}

namespace {
/// Takes away what the level does not have (System V ABI, AMD64 supplement, table 3.1).
CpuidResult limit_to_level(u32 leaf, u32 subleaf, CpuidResult r) {
  u32 v = level();
  if (v == 0) return r;
  if (leaf == 1) {
    // sse3, ssse3, cmpxchg16b, sse4.1, sse4.2, popcnt, hypervisor; with v3 fma, movbe, xsave, osxsave, avx,
    // f16c.
    r.ecx &= mask(0, 9, 13, 19, 20, 23, 31) | (v >= 3 ? mask(12, 22, 26, 27, 28, 29) : 0);
  } else if (leaf == 7) {
    u32 has = (v >= 3 ? mask(3, 5, 8) : 0)                // bmi1, avx2, bmi2
              | (v >= 4 ? mask(16, 17, 28, 30, 31) : 0);  // avx512 f, dq, cd, bw, vl
    r = subleaf == 0 ? CpuidResult{0, r.ebx & has, 0, 0} : CpuidResult{};
  } else if (leaf == 0x8000'0001) {
    r.ecx &= mask(0) | (v >= 3 ? mask(5) : 0);  // lahf, lzcnt
  }
  return r;
}

CpuidResult host_model(u32 leaf, u32 subleaf) {
  if (leaf == 0xd) return xsave_leaf(subleaf);
  CpuidResult r = host_cpuid(leaf, subleaf);
  switch (leaf) {
    case 1:
      r.ebx &= 0x00ff'ffff;       // which core this is
      r.ecx &= ~mask(3, 24, 30);  // monitor, tsc-deadline, rdrand
      break;
    case 6:
      r = {0, 0, 0, 0};
      break;  // thermal and power state
    case 7:
      if (subleaf == 0) {
        r.ebx &= ~mask(0, 2, 4, 11, 14, 18, 25);  // fsgsbase, sgx, hle, rtm, mpx, rdseed, processor trace
        r.ecx &= ~mask(3, 4, 5, 7, 23, 29, 30);   // pku, ospke, waitpkg, shstk, key locker, enqcmd, sgx_lc
        r.edx &= ~mask(5, 11, 13, 16, 20, 22, 24,
                       25);  // uintr, rtm_always_abort, tsx_force_abort, tsxldtrk, ibt, amx
      } else if (subleaf == 1) {
        r.eax &= ~mask(17, 19, 21, 22, 26);     // fred, wrmsrns, amx-fp16, hreset, lam
        r.edx &= ~mask(8, 13, 17, 18, 19, 21);  // amx-complex, utmr, uiret, cet-sss, avx10, apx
      }
      break;
    case 0xb:
    case 0x1f:
      r.edx = 0;
      break;   // x2apic id of this core
    case 0xa:  // performance counters
    case 0xf:
    case 0x10:
    case 0x12:
    case 0x14:
    case 0x19:
    case 0x1b:
    case 0x1c:
    case 0x1d:
    case 0x1e:
    case 0x23:
    case 0x24:
      r = {0, 0, 0, 0};
      break;
    case 0x8000'0001:
      r.ecx &= ~mask(15, 29);
      break;  // lwp, mwaitx
    case 0x8000'0008:
      r.ebx &= ~mask(4);
      break;  // rdpru
    default:
      break;
  }
  return r;
}

CpuidResult model(u32 leaf, u32 subleaf) { return limit_to_level(leaf, subleaf, host_model(leaf, subleaf)); }

}  // namespace

CpuidResult cpuid(u32 leaf, u32 subleaf) {
  wire::Launch* launch = process().launch;
  if (launch == nullptr) return model(leaf, subleaf);
  u32 used = __atomic_load_n(&launch->cpuid_used, __ATOMIC_ACQUIRE);
  for (u32 i = 0; i < used && i < wire::kCpuidAnswers; ++i) {
    const wire::CpuidAnswer& a = launch->cpuid_answers[i];
    if (a.leaf == leaf && a.subleaf == subleaf && __atomic_load_n(&a.valid, __ATOMIC_ACQUIRE) != 0) {
      return {a.eax, a.ebx, a.ecx, a.edx};
    }
  }
  CpuidResult r = model(leaf, subleaf);
  u32 mine = __atomic_fetch_add(&launch->cpuid_used, 1, __ATOMIC_ACQ_REL);
  if (mine < wire::kCpuidAnswers) {
    wire::CpuidAnswer& a = launch->cpuid_answers[mine];
    a = {leaf, subleaf, r.eax, r.ebx, r.ecx, r.edx, 0, 0};
    __atomic_store_n(&a.valid, 1, __ATOMIC_RELEASE);
  }
  return r;
}

}  // namespace detrec::guest::run
