// Makes wire records: for tests, converters and the decoder's counterpart in replay.
//
// A RecordBuffer holds complete records one behind the other, 8-byte aligned, as a ring would. Data that is
// too large for one record is passed on in kData records by itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/event/position.h"
#include "trace/wire/event.h"

namespace detrec::event {

/// Who and where: the fields of a header that the caller chooses.
struct RecordHead {
  ThreadNumber thread{1};
  Ticks ticks;
  GuestAddress pc;
};

/// A range to put into a record.
struct RangeData {
  GuestAddress address;
  wire::Direction direction = wire::Direction::kIn;
  std::span<const std::byte> data;
};

class RecordBuffer {
 public:
  /// All records so far. Invalidated by the next add.
  std::span<const std::byte> bytes() const { return bytes_; }
  /// The record that begins at `offset`.
  std::span<const std::byte> record_at(std::size_t offset) const;
  /// The last event with the kData records behind it.
  std::span<const std::byte> last_event() const { return bytes().subspan(last_event_); }
  void clear();

  /// `body.range_count` is filled in. Ranges beyond kPieceBytes of data go into kData records.
  void add_syscall(const RecordHead& head, wire::SyscallBody body, std::span<const RangeData> ranges = {});
  /// `body.name_size` and `body.data_size` are filled in; data for Content::kData only.
  void add_mapping(const RecordHead& head, wire::MappingBody body, std::string_view name = {},
                   std::span<const std::byte> data = {});
  /// `body.argc`, `envc` and `strings_size` are filled in. All strings must fit one record
  /// (wire::kMaxRecordBytes).
  void add_start(const RecordHead& head, wire::StartBody body, std::string_view path,
                 std::span<const std::string> argv, std::span<const std::string> envp);
  void add_instruction(const RecordHead& head, const wire::InstructionBody& body);
  void add_signal(const RecordHead& head, const wire::SignalBody& body);
  void add_turn(const RecordHead& head, const wire::TurnBody& body);
  void add_thread(const RecordHead& head, const wire::ThreadBody& body);
  void add_exit(const RecordHead& head, const wire::ExitBody& body);
  /// One kData record of at most kPieceBytes; `more`: another follows.
  void add_data(const RecordHead& head, const RangeData& range, bool more);

 private:
  void begin(wire::EventKind kind, const RecordHead& head);
  void put(const void* data, std::size_t size);
  void pad();
  void end(bool more);
  void put_range(const RangeData& range);
  void add_pieces(const RecordHead& head, std::span<const RangeData> ranges);

  std::vector<std::byte> bytes_;
  std::size_t record_ = 0;      ///< where the record under construction begins
  std::size_t last_event_ = 0;  ///< where the last record that is not kData begins
};

/// Calls `visit(std::span<const std::byte>)` for each record of `bytes`, which must be whole records (as
/// RecordBuffer gives them). Stops when a size makes no sense.
template <typename Visit>
void for_each_record(std::span<const std::byte> bytes, Visit&& visit) {
  while (bytes.size() >= sizeof(wire::EventHeader)) {
    const auto size = reinterpret_cast<const wire::EventHeader*>(bytes.data())->size;
    if (size < sizeof(wire::EventHeader) || size > bytes.size()) return;
    visit(bytes.first(size));
    bytes = bytes.subspan(size);
  }
}

}  // namespace detrec::event
