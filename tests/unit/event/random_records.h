// Random but valid records: what a run could have produced, and much that none would.
#pragma once

#include <cstdint>
#include <random>

#include "trace/event/record_builder.h"

namespace detrec::event::testing {

class RandomRecords {
 public:
  explicit RandomRecords(std::uint64_t seed) : random_(seed) {}

  /// Appends one event of a random kind, with its kData records.
  void add(RecordBuffer& to);

 private:
  std::uint64_t below(std::uint64_t end) { return end == 0 ? 0 : random_() % end; }
  /// A number of a random number of bits.
  std::uint64_t number() { return random_() >> below(64); }
  bool often() { return below(4) != 0; }
  std::vector<std::byte> data(std::size_t size);
  RecordHead head();
  void add_syscall(RecordBuffer& to);
  void add_mapping(RecordBuffer& to);
  void add_start(RecordBuffer& to);
  void add_small(RecordBuffer& to);

  std::mt19937_64 random_;
  std::uint64_t ticks_ = 0;
};

}  // namespace detrec::event::testing
