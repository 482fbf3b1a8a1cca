// Compares the decoder with Zydis over all code of ELF files. Usage: decode_binaries FILE...
#include <fmt/format.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/unit/decode/oracle/code_sections.h"
#include "tests/unit/decode/oracle/oracle.h"
#include "tests/unit/decode/oracle/sweep.h"

namespace {

using namespace detrec::guest::test;

/// Sweeps one file's sections in pieces, shared among the processors. Pieces begin at a 16-byte boundary,
/// which is mostly an instruction's; the sweep gets into step by itself otherwise.
Tally sweep_file(const Oracle& oracle, const CodeFile& file) {
  constexpr std::size_t kPiece = 1 << 20;
  std::vector<std::span<const std::uint8_t>> pieces;
  for (const auto section : file.sections())
    for (std::size_t at = 0; at < section.size(); at += kPiece)
      pieces.push_back(section.subspan(at, std::min(kPiece, section.size() - at)));
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  Tally sum;
  std::vector<std::thread> workers;
  for (unsigned t = 0; t < std::max(1u, std::thread::hardware_concurrency()); ++t) {
    workers.emplace_back([&] {
      Tally tally;
      for (std::size_t i; (i = next.fetch_add(1)) < pieces.size();)
        sweep(oracle, pieces[i], UINT64_MAX, tally);
      const std::lock_guard lock(mutex);
      sum.add(tally);
    });
  }
  for (std::thread& worker : workers) worker.join();
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: decode_binaries FILE...\n");
    return 2;
  }
  const Oracle oracle;
  Tally all;
  for (int i = 1; i < argc; ++i) {
    const CodeFile file(argv[i]);
    const Tally tally = sweep_file(oracle, file);
    fmt::print("{}: {} instructions, {} valid, {} mismatches\n", argv[i], tally.compared, tally.valid,
               tally.mismatches);
    std::fflush(stdout);
    all.add(tally);
  }
  fmt::print("all: {}", all.summary());
  return all.mismatches == 0 ? 0 : 1;
}
