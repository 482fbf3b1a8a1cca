// Compares the decoder with Zydis over every pattern of patterns.h. Usage: decode_exhaustive [SPACE [STRIDE]]
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "tests/unit/decode/oracle/known_differences.h"
#include "tests/unit/decode/oracle/oracle.h"
#include "tests/unit/decode/oracle/patterns.h"

int main(int argc, char** argv) {
  using namespace detrec::guest::test;
  const char* only = argc > 1 ? argv[1] : "";
  const std::uint64_t stride = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  const unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  const Oracle oracle;
  Tally all;
  for (const PatternSpace& space : pattern_spaces()) {
    if (*only != '\0' && std::strcmp(only, space.name) != 0) continue;
    std::vector<Tally> tallies(threads);
    std::vector<std::thread> workers;
    for (unsigned t = 0; t < threads; ++t) {
      workers.emplace_back([&, t] {
        for (std::uint64_t n = t * stride; n < space.size; n += threads * stride) {
          const Pattern pattern = space.make(n);
          oracle.compare(pattern, tallies[t]);
        }
      });
    }
    for (std::thread& worker : workers) worker.join();
    Tally sum;
    for (const Tally& tally : tallies) sum.add(tally);
    fmt::print("{}: {}", space.name, sum.summary());
    std::fflush(stdout);
    all.add(sum);
  }
  all.examples.clear();
  fmt::print("all: {}", all.summary());
  if (argc > 1) return all.mismatches == 0 ? 0 : 1;
  // An entry that no pattern needs could hide a mistake.
  bool stale = false;
  for (std::size_t i = 0; i < all.known.size(); ++i) {
    if (all.known[i] != 0) continue;
    fmt::print("not needed: {}\n", known_differences()[i].reason);
    stale = true;
  }
  return all.mismatches == 0 && !stale ? 0 : 1;
}
