// Owned file descriptors, kept out of the way of the guest.
#pragma once

#include <unistd.h>

#include <utility>

namespace detrec::frontend {

/// Closes its descriptor. Movable only.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }

  int number() const { return number_; }
  /// Gives the descriptor away.
  int release() { return std::exchange(number_, -1); }
  bool valid() const { return number_ >= 0; }

 private:
  int number_ = -1;
};

/// Moves `descriptor` to the highest free number below the soft RLIMIT_NOFILE and below 1024 (descriptor
/// tables are as long as their highest entry), close-on-exec. The guest's lowest free descriptor is then what
/// it is natively. Returns an invalid descriptor, and errno set, if there is none.
Descriptor move_to_high_number(Descriptor descriptor);

}  // namespace detrec::frontend
