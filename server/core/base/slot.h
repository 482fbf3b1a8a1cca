// A write-once place for a value (TURN-1 .. TURN-3). Plain data: copies of a slot are the same slot (same
// id).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include "server/core/base/check.h"

namespace detrec::core {

using SlotId = std::uint64_t;  ///< unique in a run; 0 is no slot

template <class T>
class Slot {
  static_assert(std::is_trivially_copyable_v<T>, "slots live in the arena");

 public:
  Slot() = default;
  explicit Slot(SlotId id) : id_(id) {}

  SlotId id() const { return id_; }
  bool filled() const { return filled_; }
  const T& value() const { return value_; }
  T& mutable_value() { return value_; }
  bool has_waiter() const { return waited_; }

  /// Fills; a filled slot is fatal. Returns whether somebody waits and is now to be woken (TURN-2).
  bool fill(const T& value) {
    check(!filled_, "a slot is written twice");
    value_ = value;
    filled_ = true;
    return waited_;
  }
  /// The rejected value when the slot was filled already, nothing on success (TURN-1).
  std::optional<T> try_fill(const T& value) {
    if (filled_) return value;
    fill(value);
    return std::nullopt;
  }
  /// The value at once when filled; otherwise the caller is noted as waiter and asks again when woken.
  std::optional<T> wait() {
    if (filled_) return value_;
    waited_ = true;
    return std::nullopt;
  }
  /// TURN-3: shows no host address.
  template <class Print>
  std::string describe(Print print) const {
    if (filled_) return print(value_);
    return waited_ ? "<empty, awaited>" : "<empty>";
  }
  friend bool operator==(const Slot& a, const Slot& b) { return a.id_ == b.id_; }

 private:
  SlotId id_ = 0;
  bool filled_ = false;
  bool waited_ = false;
  T value_{};
};

}  // namespace detrec::core
