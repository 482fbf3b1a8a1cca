// Compares the decoder with this machine's processor. Usage: decode_hardware [SPACE [STRIDE [START]]]
//
// Validity and length: the instruction must not raise #UD, must not want more bytes than we say, and must
// want them all. Effects, where it completes: no register or flag changes but those we call written; what is
// written depends neither on registers and flags that we do not call read nor, for flags that surely change,
// on their old values.
// Expected differences: #UD of what this processor lacks; "we refuse" where an invalid encoding is also too
// long (#GP), and for vmcall in a virtual machine, which its hypervisor answers.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>

#include "tests/unit/decode/oracle/oracle.h"
#include "tests/unit/decode/oracle/patterns.h"
#include "tests/unit/decode/tools/sandbox.h"

namespace {

using namespace detrec::guest;
using namespace detrec::guest::test;

struct Kind {
  std::uint64_t count = 0;
  std::string example;
};

struct Report {
  std::uint64_t compared = 0, valid = 0, effects = 0;
  std::map<std::string, std::uint64_t> executed;  ///< by mnemonic
  std::map<std::string, Kind> differences;        ///< by what and mnemonic

  std::string serialise() const {
    std::string text = fmt::format("n\t{}\t{}\t{}\n", compared, valid, effects);
    for (const auto& [mnemonic, count] : executed) text += fmt::format("e\t{}\t{}\t\n", mnemonic, count);
    for (const auto& [key, kind] : differences)
      text += fmt::format("d\t{}\t{}\t{}\n", key, kind.count, kind.example);
    return text;
  }

  void add(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream fields(line);
      std::string type, key, count, rest;
      std::getline(fields, type, '\t');
      std::getline(fields, key, '\t');
      std::getline(fields, count, '\t');
      std::getline(fields, rest);
      if (type == "n") {
        compared += std::stoull(key);
        valid += std::stoull(count);
        effects += std::stoull(rest);
      } else if (type == "e") {
        executed[key] += std::stoull(count);
      } else {
        Kind& difference = differences[key];
        difference.count += std::stoull(count);
        if (difference.example.empty()) difference.example = rest;
      }
    }
  }
};

class Comparison {
 public:
  Comparison(const Oracle& oracle, const Pattern& pattern, std::uint64_t n, Report& report)
      : oracle_(oracle), pattern_(pattern), random_(n * 0x9e3779b97f4a7c15 + 1), report_(report) {}

  void run() {
    const DecodeStatus status = decode(pattern_.data(), pattern_.size(), insn_);
    if (status == DecodeStatus::kOk && must_not_run(insn_)) return;
    ++report_.compared;
    MachineState state = pointers();
    if (status != DecodeStatus::kOk) {
      if (execute(code(15), state) != Outcome::kInvalid && status == DecodeStatus::kInvalid)
        note("we refuse", 15);
      return;
    }
    ++report_.valid;
    switch (execute(code(insn_.length), state)) {
      case Outcome::kInvalid:
        if (insn_.special != Special::kUd) note("#UD", insn_.length);
        return;
      case Outcome::kWantsMore:
        note("longer", insn_.length + 1u);
        return;
      case Outcome::kExecuted:
      case Outcome::kFaulted:
        ++report_.executed[mnemonic()];
        break;
    }
    MachineState again = pointers();
    if (insn_.length > 1 && execute(code(insn_.length - 1u), again) != Outcome::kWantsMore)
      note("shorter", insn_.length);
    if (insn_.special == Special::kNone && insn_.branch == Branch::kNone) effects();
  }

 private:
  std::span<const std::uint8_t> code(std::size_t length) const { return std::span(pattern_).first(length); }

  std::string mnemonic() const {
    const Reference ref = oracle_.reference(pattern_);
    if (ref.ok()) return ZydisMnemonicGetString(ref.insn.mnemonic);
    return fmt::format("?{}.{}.{:02x}", static_cast<int>(insn_.encoding), static_cast<int>(insn_.map),
                       insn_.opcode);
  }

  void note(const char* what, std::size_t shown) {
    Kind& kind = report_.differences[fmt::format("{} {}", what, mnemonic())];
    if (kind.count++ == 0)
      kind.example = fmt::format("{} {}", hex(code(shown)), oracle_.disassemble(oracle_.reference(pattern_)));
  }

  std::uint64_t draw() {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    return random_;
  }

  /// All registers point into the scratch memory.
  static MachineState pointers() {
    MachineState state{};
    std::fill(std::begin(state.gpr), std::end(state.gpr), kScratchCentre);
    return state;
  }

  std::uint64_t value() {
    // Small numbers, edges and wide ones.
    switch (draw() % 4) {
      case 0:
        return draw() % 70;
      case 1:
        return ~(draw() % 3);
      case 2:
        return std::uint64_t{1} << draw() % 64;
      default:
        return draw();
    }
  }

  /// Runs from `before`; nothing unless the instruction completes.
  std::optional<MachineState> outcome(const MachineState& before) const {
    MachineState state = before;
    if (execute(code(insn_.length), state) != Outcome::kExecuted) return std::nullopt;
    return state;
  }

  bool same_results(const MachineState& a, const MachineState& b, unsigned flags) const {
    for (unsigned i = 0; i < 16; ++i)
      if ((insn_.gpr_written >> i & 1) != 0 && a.gpr[i] != b.gpr[i]) return false;
    return ((a.flags ^ b.flags) & flags) == 0;
  }

  /// Whether its memory operands lie where the sandbox resets memory between runs.
  bool repeatable() const {
    for (unsigned i = 0; i < insn_.mem_count; ++i) {
      const MemOperand& mem = insn_.mem[i];
      const bool near = mem.disp >= -128 && mem.disp < 128 && mem.segment == Segment::kNone && !mem.address32;
      const bool below_stack =
          mem.base == kRsp && mem.disp < 0 && mem.kind == MemKind::kExplicit;  // the sandbox's own
      if (!mem.is_agen && (!near || mem.base > 15 || below_stack || insn_.is_bit_string)) return false;
    }
    return true;
  }

  void effects() {
    if (!repeatable()) return;
    MachineState before = pointers();
    // Registers that address memory stay pointers.
    unsigned addresses = 1u << kRsp;
    for (unsigned i = 0; i < insn_.mem_count; ++i)
      for (const unsigned reg : {insn_.mem[i].base, insn_.mem[i].index})
        if (reg < 16) addresses |= 1u << reg;
    for (unsigned i = 0; i < 16; ++i)
      if ((addresses >> i & 1) == 0) before.gpr[i] = value();
    if (insn_.is_string && insn_.rep != Rep::kNone) before.gpr[kRcx] = draw() % 4;
    before.gpr[kRsp] = kScratchStack;
    before.flags = draw() & kFlagsStatus;
    const std::optional<MachineState> after = outcome(before);
    if (!after) return;
    ++report_.effects;

    for (unsigned i = 0; i < 16; ++i)
      if (after->gpr[i] != before.gpr[i] && (insn_.gpr_written >> i & 1) == 0)
        note("writes another register", insn_.length);
    if (((after->flags ^ before.flags) & ~insn_.flags_written & kFlagsAll) != 0)
      note("writes another flag", insn_.length);

    // Other flags: those not read must not matter, and those surely written must not survive.
    MachineState other = before;
    other.flags ^= kFlagsStatus & ~insn_.flags_read;
    std::optional<MachineState> result = outcome(other);
    if (!result || !same_results(*after, *result, 0)) note("reads another flag", insn_.length);
    if (result && !same_results(*after, *result, insn_.flags_must_written & ~insn_.flags_undefined))
      note("keeps a flag", insn_.length);
    if (result && !same_results(*after, *result, insn_.flags_must_written))
      note("keeps an undefined flag", insn_.length);

    // Other registers: those not read must not matter.
    other = before;
    for (unsigned i = 0; i < 16; ++i)
      if (((insn_.gpr_read | addresses) >> i & 1) == 0) other.gpr[i] = value();
    result = outcome(other);
    if (!result || !same_results(*after, *result, insn_.flags_written))
      note("reads another register", insn_.length);
  }

  const Oracle& oracle_;
  const Pattern& pattern_;
  std::uint64_t random_;
  Report& report_;
  Insn insn_;
};

void print(const PatternSpace& space, const Report& report, std::size_t lost) {
  fmt::print("{}: {} patterns, {} valid, {} with effects, {} killed the sandbox\n", space.name,
             report.compared, report.valid, report.effects, lost);
  for (const auto& [key, kind] : report.differences) {
    const auto also = report.executed.find(key.substr(key.rfind(' ') + 1));
    fmt::print("  {} {} (executed {}): {}\n", kind.count, key,
               also == report.executed.end() ? 0 : also->second, kind.example);
  }
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const char* only = argc > 1 ? argv[1] : "";
  const std::uint64_t stride = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 997;
  const std::uint64_t first = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 0;
  const Oracle oracle;
  for (const PatternSpace& space : pattern_spaces()) {
    if (*only != '\0' && std::strcmp(only, space.name) != 0) continue;
    Report report;
    std::set<std::uint64_t> lost;
    const std::uint64_t chunk = 20'000 * stride;
    for (std::uint64_t begin = first; begin < space.size; begin += chunk) {
      const auto part = [&](volatile std::uint64_t& current) {
        Report local;
        for (std::uint64_t n = begin; n < std::min(begin + chunk, space.size); n += stride) {
          current = n;
          if (lost.contains(n)) continue;
          const Pattern pattern = space.make(n);
          Comparison(oracle, pattern, n, local).run();
        }
        return local.serialise();
      };
      report.add(run_in_child(part, lost));
    }
    print(space, report, lost.size());
  }
  return 0;
}
