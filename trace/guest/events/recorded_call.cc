#include <asm/unistd_64.h>

#include "trace/guest/events/calls.h"
#include "trace/guest/events/duration.h"
#include "trace/guest/events/input_hash.h"
#include "trace/guest/events/mappings.h"
#include "trace/guest/events/record.h"
#include "trace/guest/syscall/ranges.h"

namespace detrec::guest::events {
namespace {

/// Writes ranges behind the body of a record, and into kData records what does not fit there.
class RangeWriter {
 public:
  RangeWriter(Turn& turn, Record& record, wire::SyscallBody& body)
      : turn_(turn), record_(record), body_(body) {}

  void add(GuestAddr address, u64 size, wire::Direction direction) {
    for (u64 done = 0; done < size;) {
      u64 piece = size - done < wire::kPieceBytes ? size - done : wire::kPieceBytes;
      if (in_body_ && piece > left_in_body_ && left_in_body_ >= kLeast && done == 0) piece = left_in_body_;
      if (!add_piece({address + done, static_cast<u32>(piece), direction})) return;
      done += piece;
    }
  }

  void commit() { record_.commit(); }

 private:
  static constexpr u64 kLeast = 4096;  ///< a body is not filled up with less of a larger range

  /// False when the guest's memory cannot be read (any more): then nothing of it is recorded.
  bool add_piece(const wire::RangeHeader& range) {
    u64 needed = sizeof(wire::RangeHeader) + range.size + 8;
    if (!in_body_ || needed > left_in_body_) {
      record_.commit(true);
      record_ = Record(turn_, wire::EventKind::kData);
      in_body_ = false;
    }
    u8* begin = record_.end();
    record_.append<wire::RangeHeader>() = range;
    if (!read_guest(record_.take(range.size), range.address, range.size)) {
      record_.shorten_to(begin);
      if (in_body_) return false;
      record_.append<wire::RangeHeader>() = {range.address, 0,
                                             range.direction};  // a kData record has a range
      return false;
    }
    if (in_body_) {
      left_in_body_ -= needed;
      ++body_.range_count;
    }
    return true;
  }

  Turn& turn_;
  Record& record_;
  wire::SyscallBody& body_;
  bool in_body_ = true;
  u64 left_in_body_ = wire::kPieceBytes;
};

/// The paths that a call was given, for people who ask a trace about files.
void add_paths(RangeWriter& ranges, i32 number, const syscall::Args& args) {
  const syscalls::SyscallRow* row = syscalls::find(number);
  if (row == nullptr || (row->reads & ~row->writes) == 0) return;
  for (int i = 0; i < row->arg_count; ++i) {
    if (row->args[i].kind != syscalls::ArgKind::kPath || args[i] == 0) continue;
    char path[4096];
    i64 length = read_guest_string(path, args[i], sizeof path);
    if (length > 0) ranges.add(args[i], static_cast<u64>(length) + 1, wire::Direction::kPath);
  }
}

/// What a write to stdout or stderr has written.
void add_output(Turn& turn, RangeWriter& ranges, i32 number, const syscall::Args& args, SysResult result) {
  if (result <= 0) return;
  bool plain = number == __NR_write || number == __NR_pwrite64;
  bool vectored = number == __NR_writev || number == __NR_pwritev || number == __NR_pwritev2;
  if (!plain && !vectored) return;
  wire::Direction output = output_of(turn, static_cast<u32>(args[0]));
  if (output == wire::Direction::kIn) return;
  auto left = static_cast<u64>(result);
  if (plain) return ranges.add(args[1], left, output);
  syscall::for_each_iovec(args[1], args[2], [&](const syscall::Iovec& entry) {
    u64 size = entry.length < left ? entry.length : left;
    if (size != 0) ranges.add(entry.base, size, output);
    left -= size;
    return left != 0;
  });
}

}  // namespace

syscall::Args known_arguments(Turn& turn, i32 number) {
  syscall::Args args = syscall::arguments(turn);
  const syscalls::SyscallRow* row = syscalls::find(number);
  for (int i = row != nullptr ? row->arg_count : 6; i < 6; ++i) args[i] = 0;
  return args;
}

RecordedCall::RecordedCall(Turn& turn, i32 number) : number_(number), args_(known_arguments(turn, number)) {
  syscalls::capture_before(number_, args_.value, syscall::guest_reader(), before_);
  input_hash_ = input_hash(number_, args_, before_);
  begun_ = cycles();
}

void RecordedCall::finish(Turn& turn, SysResult result) {
  if (!recording()) return;  // a forked child
  u64 duration = duration_since(begun_);
  Record record(turn, wire::EventKind::kSyscall);
  // Field by field: zeroing it first takes longer than all of this.
  auto& body = *reinterpret_cast<wire::SyscallBody*>(record.take(sizeof(wire::SyscallBody)));
  body.number = number_;
  body.range_count = 0;
  for (int i = 0; i < 6; ++i) body.args[i] = args_[i];
  body.result = result;
  body.input_hash = input_hash_;
  body.reserved = 0;
  body.duration_ns = duration;
  RangeWriter ranges(turn, record, body);
  auto visit = [&ranges](const syscalls::Range& range) {
    ranges.add(range.address, range.size, wire::Direction::kIn);
  };
  syscalls::for_each_written(number_, args_.value, result, &before_, syscall::guest_reader(),
                             syscalls::visitor_of(visit));
  auto add_change = [](GuestAddr begin, u64 size, void* to) {
    static_cast<RangeWriter*>(to)->add(begin, size, wire::Direction::kIn);
  };
  take_changes(add_change, &ranges);
  add_paths(ranges, number_, args_);
  add_output(turn, ranges, number_, args_, result);
  ranges.commit();
}

}  // namespace detrec::guest::events
