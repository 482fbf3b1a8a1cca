#include "tests/fuzz/translator/cpu_state.h"

#include <cpuid.h>

#include <cstring>
#include <initializer_list>

detrec::fuzz::CpuState entry_state, exit_state;
std::uint32_t xsave_mask;

namespace detrec::fuzz {
namespace {

constexpr u32 kX87 = 1, kSse = 2, kAvx = 4, kOpmask = 0x20, kZmmHigh = 0x40, kZmm16 = 0x80;

struct Component {
  u32 bit;
  u64 begin;
  u64 end;
};
constexpr Component kExtended[] = {{kAvx, kXsaveAvx, kXsaveAvx + 256},
                                   {kOpmask, kXsaveMask, kXsaveMask + 64},
                                   {kZmmHigh, kXsaveZmmHigh, kXsaveZmmHigh + 512},
                                   {kZmm16, kXsaveZmm16, kXsaveZmm16 + 1024}};

constexpr u64 kControlWord = 0, kStatusWord = 2, kTags = 4, kOpcode = 6, kMxcsr = 24, kSt0 = 32, kXmm0 = 160;
constexpr u16 kDefaultControlWord = 0x37f;
constexpr u32 kDefaultMxcsr = 0x1f80;

template <class T>
void put(u8* xsave, u64 offset, T value) {
  std::memcpy(xsave + offset, &value, sizeof value);
}

/// One lane of a vector register.
u64 vector_word(Random& random) {
  const u64 bits = random.next();
  switch (random.below(8)) {
    case 0:
      return 0;
    case 1:
      return (bits & 0xff) | (bits >> 8 & 0xff) << 32;  // small indices for gathers
    case 2: {
      const double value = static_cast<double>(static_cast<i32>(bits)) / 64;
      u64 word;
      std::memcpy(&word, &value, sizeof word);
      return word;
    }
    case 3: {
      const float value[2] = {static_cast<float>(bits >> 40) / 16, -static_cast<float>(bits & 0xffff)};
      u64 word;
      std::memcpy(&word, value, sizeof word);
      return word;
    }
    case 4:
      return ~0ull;
    default:
      return bits;
  }
}

void set_vector_register(u8* xsave, unsigned n, Random& random) {
  // A register is of one kind more often than a mixture.
  const u64 seed = random.next();
  const bool uniform = random.chance(60);
  Random lane(seed);
  for (unsigned i = 0; i < 8; ++i) {
    if (uniform) lane = Random(seed);
    const u64 word = vector_word(lane);
    if (n >= 16) {
      put(xsave, kXsaveZmm16 + 64 * (n - 16) + 8 * i, word);
    } else if (i < 2) {
      put(xsave, kXmm0 + 16 * n + 8 * i, word);
    } else if (i < 4) {
      put(xsave, kXsaveAvx + 16 * n + 8 * (i - 2), word);
    } else {
      put(xsave, kXsaveZmmHigh + 32 * n + 8 * (i - 4), word);
    }
  }
}

void set_x87(u8* xsave, Random& random) {
  const u8 used = random.pick({0, 0x80, 0xc0, 0xf0, 0xff, random.byte()}) & 0xff;
  unsigned top = 0;
  while (top < 8 && (used >> top & 1) == 0) ++top;
  u16 control = kDefaultControlWord;
  if (random.chance(15)) control = static_cast<u16>((random.next() & 0xf3f) | 0x40);
  put(xsave, kControlWord, control);
  const u16 pending = static_cast<u16>(control & 0x3f);  // only masked exceptions may be noted
  const u16 conditions = static_cast<u16>(random.next() & 0x4700);
  put(xsave, kStatusWord,
      static_cast<u16>((top & 7) << 11 | conditions | (random.chance(20) ? random.next() & pending : 0)));
  put(xsave, kTags, used);
  for (unsigned i = 0; i < 8; ++i) {
    u64 mantissa = random.next();
    u16 exponent = static_cast<u16>(0x3fff - 20 + random.below(60));
    if (random.chance(10)) exponent = static_cast<u16>(random.next());
    if (random.chance(90)) mantissa |= 1ull << 63;
    if (random.chance(10)) exponent |= 0x8000;
    put(xsave, kSt0 + 16 * i, mantissa);
    put(xsave, kSt0 + 16 * i + 8, exponent);
  }
}

u32 random_mxcsr(Random& random) {
  u32 mxcsr = kDefaultMxcsr;
  if (random.chance(20)) mxcsr ^= static_cast<u32>(random.next()) & 0xe040;  // rounding, flush, denormals
  if (random.chance(4)) mxcsr &= static_cast<u32>(random.next()) | ~0x1f80u;
  return mxcsr;
}

}  // namespace

void start_cpu_state() {
  u32 low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  xsave_mask = low & (kX87 | kSse | kAvx | kOpmask | kZmmHigh | kZmm16);
}

void set_random_vectors(Random& random) {
  u8* const xsave = entry_state.xsave;
  std::memset(xsave, 0, kXsaveSize);
  put(xsave, kXsaveHeader, static_cast<u64>(xsave_mask));
  for (unsigned n = 0; n < 32; ++n) set_vector_register(xsave, n, random);
  for (unsigned k = 0; k < 8; ++k) {
    const u64 mask = random.next();
    put(xsave, kXsaveMask + 8 * k, random.chance(20) ? ~0ull : random.chance(30) ? mask & 0x1111 : mask);
  }
  set_x87(xsave, random);
  put(xsave, kMxcsr, random_mxcsr(random));
}

VectorState normalized(const u8* xsave, u64 present) {
  VectorState state;
  std::memcpy(state.legacy, xsave, sizeof state.legacy);
  constexpr u64 kMxcsrAndMask = 8;
  if ((present & kX87) == 0) {
    std::memset(state.legacy, 0, kMxcsr);
    std::memset(state.legacy + kSt0, 0, kXmm0 - kSt0);
    put(state.legacy, kControlWord, kDefaultControlWord);
  }
  // The last opcode's ModRM byte: [rip + disp32] may have become [register].
  u16 opcode;
  std::memcpy(&opcode, state.legacy + kOpcode, sizeof opcode);
  if ((opcode & 0xc0) == 0) put(state.legacy, kOpcode, static_cast<u16>(opcode & ~7u));
  if ((present & kSse) == 0) std::memset(state.legacy + kXmm0, 0, kXsaveLegacy - kXmm0);
  static_assert(kMxcsr + kMxcsrAndMask == kSt0);
  std::memset(state.extended, 0, sizeof state.extended);
  for (const Component& c : kExtended) {
    if ((present & xsave_mask & c.bit) == 0) continue;
    std::memcpy(state.extended + (c.begin - kXsaveAvx), xsave + c.begin, c.end - c.begin);
  }
  return state;
}

}  // namespace detrec::fuzz
