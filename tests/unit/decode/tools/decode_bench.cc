// Measures the decoder's time per instruction over real code. Usage: decode_bench [FILE...] (default: this
// process's)
#include <Zydis/Zydis.h>
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tests/unit/decode/oracle/code_sections.h"
#include "trace/guest/decode/insn.h"

namespace {

using namespace detrec::guest;
using namespace detrec::guest::test;

constexpr std::size_t kBytesPerSection = 8 << 20;

struct Run {
  std::uint64_t instructions = 0;
  double ns = 0;
};

/// This thread's processor time: other processes do not count.
double cpu_ns() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

template <typename Step>
Run measure(std::span<const std::uint8_t> code, Step step) {
  Run best;
  for (int repeat = 0; repeat < 5; ++repeat) {
    const double start = cpu_ns();
    std::uint64_t count = 0;
    for (std::size_t at = 0; at < code.size(); ++count)
      at += std::max<std::size_t>(1, step(code.subspan(at)));
    const double ns = cpu_ns() - start;
    if (repeat == 0 || ns < best.ns) best = {count, ns};
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> paths(argv + 1, argv + argc);
  if (paths.empty()) paths = mapped_files();
  ZydisDecoder zydis;
  ZydisDecoderInit(&zydis, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  std::uint64_t used = 0;
  for (const std::string& path : paths) {
    const CodeFile file(path);
    Run ours, theirs;
    for (auto code : file.sections()) {
      code = code.first(std::min(code.size(), kBytesPerSection));
      const Run a = measure(code, [&used](std::span<const std::uint8_t> at) -> std::size_t {
        Insn insn;
        if (decode(at.data(), at.size(), insn) != DecodeStatus::kOk) return 0;
        used += insn.gpr_read + insn.flags_read;
        return insn.length;
      });
      const Run b = measure(code, [&used, &zydis](std::span<const std::uint8_t> at) -> std::size_t {
        ZydisDecodedInstruction insn;
        ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
        if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&zydis, at.data(), at.size(), &insn, operands))) return 0;
        used += insn.operand_count;
        return insn.length;
      });
      ours.instructions += a.instructions;
      ours.ns += a.ns;
      theirs.instructions += b.instructions;
      theirs.ns += b.ns;
    }
    if (ours.instructions == 0) continue;
    fmt::print("{}: {} instructions, {:.1f} ns each (Zydis {:.1f})\n", path, ours.instructions,
               ours.ns / static_cast<double>(ours.instructions),
               theirs.ns / static_cast<double>(theirs.instructions));
  }
  return used == 1 ? 1 : 0;  // the results are used, so nothing was optimised away
}
