#include "trace/guest/run/register_hash.h"

#include "trace/guest/base/string.h"
#include "trace/guest/run/machine_state.h"

namespace detrec::guest::run {
namespace {

u64 fnv1a(u64 hash, const void* data, u64 n) {
  auto* p = static_cast<const u8*>(data);
  for (u64 i = 0; i < n; ++i) hash = (hash ^ p[i]) * 0x100'0000'01b3ull;
  return hash;
}

/// Offsets in the xsave area's legacy region (Intel SDM 1, 10.5.1).
constexpr u64 kMxcsr = 24, kRegisters = 32, kLegacyEnd = 416, kExtended = 576;

}  // namespace

u64 register_hash(const Registers& regs) {
  alignas(64) static u8 area[kVectorBytes];
  memset(area, 0, sizeof area);
  save_vectors(area);
  u64 hash = 0xcbf2'9ce4'8422'2325ull;
  hash = fnv1a(hash, &regs.pc, 8);
  hash = fnv1a(hash, regs.gpr, sizeof regs.gpr);
  hash = fnv1a(hash, &regs.rflags, 8);
  hash = fnv1a(hash, area, 5);  // control, status and tag word
  hash = fnv1a(hash, area + kMxcsr, 4);
  hash = fnv1a(hash, area + kRegisters, kLegacyEnd - kRegisters);
  return fnv1a(hash, area + kExtended, sizeof area - kExtended);
}

}  // namespace detrec::guest::run
