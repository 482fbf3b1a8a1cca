// Which memory of a diversion gdb goes on looking at when a call is over and it sees the recording again:
// what the result of the call points to, and what gdb itself has had allocated for arguments.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace detrec::server {

class CallResults {
 public:
  void clear() { reached_.clear(); }
  /// A call has returned this; perhaps it is a pointer.
  void add(std::uint64_t value);
  /// Does memory that begins here belong to a result? What follows `size` bytes that do, does, too.
  bool claim(std::uint64_t address, std::uint64_t size);
  /// These bytes belong to a result: so does what pointers in them lead to.
  void follow(std::uint64_t address, std::span<const std::uint8_t> bytes);

 private:
  struct Range {
    std::uint64_t begin, end;  ///< empty: something may begin here
  };
  std::vector<Range> reached_;
};

}  // namespace detrec::server
