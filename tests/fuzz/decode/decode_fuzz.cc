// Feeds the decoder with bytes, mostly mutations of instructions, and checks what must hold for all: it stays
// within the bytes it is given, says the same however many follow, contradicts itself nowhere, and agrees
// with Zydis. Usage: decode_fuzz [INPUTS [SEED]]
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <span>
#include <vector>

#include "tests/unit/decode/oracle/oracle.h"
#include "tests/unit/decode/oracle/patterns.h"
#include "trace/guest/decode/insn.h"

namespace {

using namespace detrec::guest;
using namespace detrec::guest::test;

constexpr std::size_t kPage = 4096;

/// Where a buffer must end for the next byte to be inaccessible.
std::uint8_t* guarded_end() {
  static std::uint8_t* const end = [] {
    void* const pages = mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) std::abort();
    auto* const limit = static_cast<std::uint8_t*>(pages) + kPage;
    if (mprotect(limit, kPage, PROT_NONE) != 0) std::abort();
    return limit;
  }();
  return end;
}

struct Outcome {
  DecodeStatus status;
  Insn insn;
};

Outcome decode_at_end(std::span<const std::uint8_t> bytes) {
  std::uint8_t* const at = guarded_end() - bytes.size();
  std::copy(bytes.begin(), bytes.end(), at);
  Outcome outcome;
  std::memset(&outcome.insn, 0, sizeof outcome.insn);  // for comparing: decode leaves parts unspecified
  outcome.status = decode(at, bytes.size(), outcome.insn);
  return outcome;
}

[[noreturn]] void fail(std::span<const std::uint8_t> bytes, const std::string& why) {
  fmt::print(stderr, "{}: {}\n", hex(bytes), why);
  std::abort();
}

/// Whether the fields fit together.
const char* contradiction(const Insn& insn) {
  const auto subset = [](unsigned part, unsigned whole) { return (part & ~whole) == 0; };
  if (insn.length < 1 || insn.length > kMaxInsnLength) return "length";
  if (!subset(insn.flags_must_written, insn.flags_written)) return "flags_must_written";
  if (!subset(insn.flags_undefined, insn.flags_written)) return "flags_undefined";
  if (!subset(insn.flags_written | insn.flags_read, kFlagsAll)) return "flags";
  unsigned end = insn.opcode_offset + 1u;
  if (insn.has_modrm) {
    if (insn.modrm_offset != end) return "modrm_offset";
    end += 1u + insn.has_sib;
  }
  if (insn.disp_size != 0) {
    if (insn.disp_offset != end) return "disp_offset";
    end += insn.disp_size;
  }
  if (insn.imm_size != 0) {
    if (insn.imm_offset != end) return "imm_offset";
    end += insn.imm_size;
  }
  if (end != insn.length) return "fields do not add up to the length";
  if (insn.mem_count > 2) return "mem_count";
  for (unsigned i = 0; i < insn.mem_count; ++i) {
    const MemOperand& mem = insn.mem[i];
    if (mem.is_agen == (mem.read || mem.write)) return "memory access";
    for (const unsigned reg : {mem.base, mem.index})
      if (reg < 16 && !(mem.vsib && reg == mem.index) && !subset(1u << reg, insn.gpr_read))
        return "address register";
  }
  if (insn.rip_relative && (insn.mem_count == 0 || insn.mem[0].base != kRip || insn.disp_size != 4))
    return "rip";
  return nullptr;
}

void check(std::span<const std::uint8_t> bytes) {
  static const Oracle oracle;
  static Tally tally;
  const Outcome whole = decode_at_end(bytes);
  oracle.compare(bytes, tally);
  if (tally.mismatches != 0) fail(bytes, tally.summary());
  if (whole.status != DecodeStatus::kOk) return;
  if (const char* what = contradiction(whole.insn)) fail(bytes, what);
  const std::size_t length = whole.insn.length;
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    const Outcome part = decode_at_end(bytes.first(n));
    if (n < length && part.status != DecodeStatus::kTruncated)
      fail(bytes, fmt::format("not truncated at {}", n));
    if (n >= length &&
        (part.status != DecodeStatus::kOk || std::memcmp(&part.insn, &whole.insn, sizeof(Insn)) != 0))
      fail(bytes, fmt::format("other bytes than its own matter: {}", n));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check({data, std::min<std::size_t>(size, 64)});
  return 0;
}

int main(int argc, char** argv) {
  const std::uint64_t inputs = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
  const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  std::mt19937_64 random(seed);
  const auto below = [&random](std::uint64_t n) { return random() % n; };
  for (std::uint64_t i = 0; i < inputs; ++i) {
    const PatternSpace& space = pattern_spaces()[below(pattern_spaces().size())];
    const Pattern pattern = space.make(below(space.size));
    std::vector<std::uint8_t> bytes(pattern.begin(),
                                    pattern.begin() + static_cast<std::ptrdiff_t>(1 + below(24)));
    for (std::uint64_t mutations = below(4); mutations != 0; --mutations)
      bytes[below(std::min<std::size_t>(bytes.size(), 8))] = static_cast<std::uint8_t>(random());
    check(bytes);
  }
  fmt::print("{} inputs, seed {}\n", inputs, seed);
  return 0;
}
