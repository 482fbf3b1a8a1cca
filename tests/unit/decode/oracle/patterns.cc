#include "tests/unit/decode/oracle/patterns.h"

#include <initializer_list>

namespace detrec::guest::test {
namespace {

/// SplitMix64: well mixed bits of a number.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

class Writer {
 public:
  explicit Writer(std::uint64_t n) : random_(mix(n)) {
    std::uint64_t r = mix(random_);
    for (auto& byte : pattern_) {
      byte = static_cast<std::uint8_t>(r);
      r = r >> 8 != 0 ? r >> 8 : mix(random_ + byte);
    }
  }

  void put(unsigned byte) { pattern_[size_++] = static_cast<std::uint8_t>(byte); }
  void put(std::initializer_list<unsigned> bytes) {
    for (const unsigned b : bytes) put(b);
  }
  /// Random number below `limit`.
  unsigned draw(unsigned limit) {
    random_ = mix(random_);
    return static_cast<unsigned>((random_ >> 20) % limit);
  }
  const Pattern& pattern() const { return pattern_; }

 private:
  std::uint64_t random_;
  Pattern pattern_;
  std::size_t size_ = 0;
};

/// Takes the next digit of a mixed-radix number.
unsigned digit(std::uint64_t& n, unsigned radix) {
  const auto d = static_cast<unsigned>(n % radix);
  n /= radix;
  return d;
}

constexpr std::initializer_list<unsigned> kLegacyPrefixes[] = {
    {},           {0x66},       {0xf3},
    {0xf2},       {0x66, 0xf3}, {0x66, 0xf2},
    {0xf2, 0xf3}, {0xf3, 0xf2}, {0x67},
    {0x64},       {0xf0},       {0xf0, 0x66},
    {0xf0, 0xf2}, {0x2e},       {0x3e},
    {0x65, 0x67}, {0x64, 0x2e}, {0x66, 0x67, 0x36},
    {0xf3, 0x67}, {0x48, 0x66}, {0x66, 0x66, 0x26},
};
constexpr unsigned kRex[] = {0, 0x40, 0x48, 0x41, 0x44, 0x42, 0x4f, 0x47, 0x4c, 0x49};
constexpr unsigned kPrefixSets = sizeof(kLegacyPrefixes) / sizeof(kLegacyPrefixes[0]);
constexpr unsigned kRexSets = sizeof(kRex) / sizeof(kRex[0]);

Pattern make_legacy(std::uint64_t n) {
  Writer w(n);
  const unsigned modrm = digit(n, 256);
  const unsigned opcode = digit(n, 256);
  const unsigned map = digit(n, 4);
  const unsigned prefix = digit(n, kPrefixSets);
  const unsigned rex = kRex[digit(n, kRexSets)];
  w.put(kLegacyPrefixes[prefix]);
  if (rex != 0) w.put(rex);
  if (map != 0) w.put(0x0f);
  if (map == 2) w.put(0x38);
  if (map == 3) w.put(0x3a);
  w.put(opcode);
  w.put(modrm);
  return w.pattern();
}

Pattern make_vex(std::uint64_t n) {
  Writer w(n);
  const unsigned modrm = digit(n, 256);
  const unsigned opcode = digit(n, 256);
  const unsigned map = digit(n, 4);
  const unsigned last = digit(n, 16);  // W, L, pp
  const bool vvvv_unused = digit(n, 3) != 0;
  const unsigned extension = digit(n, 2) != 0 ? 7 : w.draw(8);  // inverted R, X, B
  const unsigned prefix = w.draw(64);
  if (prefix == 0) w.put(0x67);
  if (prefix == 1) w.put(0x65);
  if (prefix == 2) w.put(kLegacyPrefixes[w.draw(kPrefixSets)]);
  if (prefix == 3) w.put(0x40 + w.draw(16));
  const unsigned vvvv = vvvv_unused ? 15 : w.draw(16);
  const unsigned wlpp = (last & 8) << 4 | vvvv << 3 | (last & 7);
  if (map == 0) {
    w.put({0xc5, (extension << 5 & 0x80) | (wlpp & 0x7f), opcode, modrm});
    return w.pattern();
  }
  const unsigned mmmmm = map == 1 && w.draw(64) == 0 ? w.draw(32) : map;
  w.put({0xc4, extension << 5 | mmmmm, wlpp, opcode, modrm});
  return w.pattern();
}

Pattern make_evex(std::uint64_t n) {
  Writer w(n);
  const unsigned modrm = digit(n, 256);
  const unsigned opcode = digit(n, 256);
  const unsigned map = digit(n, 6);
  const unsigned w_pp = digit(n, 8);
  const unsigned z_l_b = digit(n, 16);
  const bool masked = digit(n, 2) != 0;
  const bool vvvv_unused = digit(n, 2) != 0;
  static constexpr unsigned kMaps[] = {1, 2, 3, 5, 6};
  const unsigned mmm = map == 5 ? w.draw(8) : kMaps[map];
  const unsigned inverted = w.draw(4) != 0 ? 15 : w.draw(16);  // R, X, B, R'
  const unsigned vvvv = vvvv_unused ? 15 : w.draw(16);
  const unsigned v_high = vvvv_unused ? 1 : w.draw(2);
  const unsigned aaa = masked ? 1 + w.draw(7) : 0;
  const unsigned reserved = w.draw(256) == 0 ? w.draw(4) : 2;  // the bits that must be 0 and 1
  w.put(0x62);
  w.put(inverted << 4 | (reserved & 1) << 3 | mmm);
  w.put((w_pp & 4) << 5 | vvvv << 3 | (reserved & 2) << 1 | (w_pp & 3));
  w.put((z_l_b & 8) << 4 | (z_l_b & 6) << 4 | (z_l_b & 1) << 4 | v_high << 3 | aaa);
  w.put(opcode);
  w.put(modrm);
  return w.pattern();
}

Pattern make_xop(std::uint64_t n) {
  Writer w(n);
  const unsigned modrm = digit(n, 256);
  const unsigned opcode = digit(n, 256);
  const unsigned map = digit(n, 4);
  const unsigned last = digit(n, 16);
  const bool vvvv_unused = digit(n, 2) != 0;
  const unsigned vvvv = vvvv_unused ? 15 : w.draw(16);
  w.put({0x8f, w.draw(8) << 5 | (map == 3 ? w.draw(32) : 8 + map), (last & 8) << 4 | vvvv << 3 | (last & 7),
         opcode, modrm});
  return w.pattern();
}

Pattern make_random(std::uint64_t n) {
  Writer w(n * 2 + 1);
  for (unsigned i = w.draw(6); i != 0; --i) {
    static constexpr unsigned kBytes[] = {0x66, 0x67, 0xf2, 0xf3, 0xf0, 0x2e, 0x36, 0x3e, 0x26, 0x64,
                                          0x65, 0x40, 0x48, 0x4f, 0x0f, 0xc5, 0xc4, 0x62, 0x8f};
    w.put(kBytes[w.draw(sizeof(kBytes) / sizeof(kBytes[0]))]);
  }
  return w.pattern();
}

constexpr PatternSpace kSpaces[] = {
    {"legacy", 256ull * 256 * 4 * kPrefixSets* kRexSets, make_legacy},
    {"vex", 256ull * 256 * 4 * 16 * 3 * 2, make_vex},
    {"evex", 256ull * 256 * 6 * 8 * 16 * 2 * 2, make_evex},
    {"xop", 256ull * 256 * 4 * 16 * 2, make_xop},
    {"random", 20'000'000, make_random},
};

}  // namespace

std::span<const PatternSpace> pattern_spaces() { return kSpaces; }

}  // namespace detrec::guest::test
