// Event records (trace/wire/event.h) checked and made readable without copying.
//
// Records come from a channel that a guest's wild store may have hit, or from a trace that anybody may have
// written: parse_record() trusts nothing but the memory range it is given. A record that passes is
// canonical: sizes add up exactly, reserved fields and padding are zero, enumerations have known values. The
// codec relies on that.
//
// Views point into the record and live as long as its bytes do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "trace/event/position.h"
#include "trace/event/result.h"
#include "trace/wire/event.h"

namespace detrec::event {

/// Memory that an event wrote, or that left the guest.
struct RangeView {
  GuestAddress address;
  wire::Direction direction = wire::Direction::kIn;
  std::span<const std::byte> data;
};

/// The ranges of a record, in order.
class RangeList {
 public:
  class Iterator {
   public:
    Iterator(const std::byte* at, std::uint32_t left) : at_(at), left_(left) {}
    RangeView operator*() const {
      return {GuestAddress{header().address},
              header().direction,
              {at_ + sizeof(wire::RangeHeader), header().size}};
    }
    Iterator& operator++() {
      at_ += sizeof(wire::RangeHeader) + ((std::size_t{header().size} + 7) & ~std::size_t{7});
      --left_;
      return *this;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.left_ == b.left_; }

   private:
    const wire::RangeHeader& header() const { return *reinterpret_cast<const wire::RangeHeader*>(at_); }

    const std::byte* at_;
    std::uint32_t left_;
  };

  RangeList() = default;
  /// `first` are `count` ranges that have been checked.
  RangeList(const std::byte* first, std::uint32_t count) : first_(first), count_(count) {}

  Iterator begin() const { return {first_, count_}; }
  Iterator end() const { return {nullptr, 0}; }
  std::uint32_t size() const { return count_; }
  bool empty() const { return count_ == 0; }

 private:
  const std::byte* first_ = nullptr;
  std::uint32_t count_ = 0;
};

/// NUL-terminated strings, one behind the other.
class StringList {
 public:
  StringList() = default;
  StringList(const char* first, std::uint32_t count) : first_(first), count_(count) {}
  std::uint32_t size() const { return count_; }
  /// Calls `visit(std::string_view)` for each string, without its NUL.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    const char* at = first_;
    for (std::uint32_t i = 0; i < count_; ++i) {
      const std::string_view text(at);
      visit(text);
      at += text.size() + 1;
    }
  }

 private:
  const char* first_ = nullptr;
  std::uint32_t count_ = 0;
};

struct StartView {
  const wire::StartBody* body;
  std::string_view path;
  StringList argv, envp;
};
struct MappingView {
  const wire::MappingBody* body;
  std::string_view name;
  std::span<const std::byte> data;  ///< Content::kData only; the rest is in the kData records that follow
};
struct SyscallView {
  const wire::SyscallBody* body;
  RangeList ranges;
};
struct InstructionView {
  const wire::InstructionBody* body;
};
struct SignalView {
  const wire::SignalBody* body;
};
struct TurnView {
  const wire::TurnBody* body;
};
struct ThreadView {
  const wire::ThreadBody* body;
};
struct ExitView {
  const wire::ExitBody* body;
};
struct DataView {
  RangeView range;
};

using BodyView = std::variant<StartView, MappingView, SyscallView, InstructionView, SignalView, TurnView,
                              ThreadView, ExitView, DataView>;

/// A record: its header and the body that the kind names.
struct EventView {
  const wire::EventHeader* header = nullptr;
  BodyView body;

  wire::EventKind kind() const { return header->kind; }
  ThreadNumber thread() const { return {header->thread}; }
  Ticks ticks() const { return {header->ticks}; }
  GuestAddress pc() const { return {header->pc}; }
  /// A kData record with more of this event's data follows.
  bool more_data() const { return (header->flags & wire::kMoreData) != 0; }
  /// The body as `View`; nullptr when the record is of another kind.
  template <typename View>
  const View* as() const {
    return std::get_if<View>(&body);
  }
};

/// Checks the record at the beginning of `bytes`, which must be 8-byte aligned and may go on after it. An
/// error is kInvalid and says what is wrong with which field.
Result<EventView> parse_record(std::span<const std::byte> bytes);

/// Whether an exit ends the thread, and whether it ends the whole process. (An exec does neither.)
constexpr bool ends_process(wire::ExitCause cause) {
  return cause == wire::ExitCause::kProcess || cause == wire::ExitCause::kSignal ||
         cause == wire::ExitCause::kKilled;
}
constexpr bool ends_thread(wire::ExitCause cause) {
  return cause == wire::ExitCause::kThread || ends_process(cause);
}

/// "syscall", "turn" ...; "unknown" for values that are no kind.
std::string_view kind_name(wire::EventKind kind);

}  // namespace detrec::event
