#include "trace/event/record_builder.h"

#include <algorithm>
#include <cstring>

namespace detrec::event {
namespace {

using wire::EventHeader;
using wire::EventKind;

constexpr std::size_t kPiece = wire::kPieceBytes;

std::size_t total_size(std::span<const RangeData> ranges) {
  std::size_t size = 0;
  for (const RangeData& range : ranges) size += range.data.size();
  return size;
}

}  // namespace

std::span<const std::byte> RecordBuffer::record_at(std::size_t offset) const {
  const auto* header = reinterpret_cast<const EventHeader*>(bytes_.data() + offset);
  return bytes().subspan(offset, header->size);
}

void RecordBuffer::clear() {
  bytes_.clear();
  record_ = last_event_ = 0;
}

void RecordBuffer::begin(EventKind kind, const RecordHead& head) {
  record_ = bytes_.size();
  if (kind != EventKind::kData) last_event_ = record_;
  const EventHeader header{0, kind, 0, head.thread.value, 0, head.ticks.value, head.pc.value};
  put(&header, sizeof header);
}

void RecordBuffer::put(const void* data, std::size_t size) {
  const auto* first = static_cast<const std::byte*>(data);
  bytes_.insert(bytes_.end(), first, first + size);
}

void RecordBuffer::pad() { bytes_.resize((bytes_.size() + 7) & ~std::size_t{7}); }

void RecordBuffer::end(bool more) {
  auto* header = reinterpret_cast<EventHeader*>(bytes_.data() + record_);
  header->size = static_cast<std::uint32_t>(bytes_.size() - record_);
  header->flags = more ? wire::kMoreData : std::uint16_t{0};
}

void RecordBuffer::put_range(const RangeData& range) {
  const wire::RangeHeader header{range.address.value, static_cast<std::uint32_t>(range.data.size()),
                                 range.direction};
  put(&header, sizeof header);
  put(range.data.data(), range.data.size());
  pad();
}

void RecordBuffer::add_data(const RecordHead& head, const RangeData& range, bool more) {
  begin(EventKind::kData, head);
  put_range(range);
  end(more);
}

void RecordBuffer::add_pieces(const RecordHead& head, std::span<const RangeData> ranges) {
  std::size_t left = total_size(ranges);
  for (const RangeData& range : ranges) {
    for (std::size_t done = 0; done < range.data.size();) {
      const std::size_t size = std::min(kPiece, range.data.size() - done);
      left -= size;
      add_data(head, {{range.address.value + done}, range.direction, range.data.subspan(done, size)},
               left != 0);
      done += size;
    }
  }
}

void RecordBuffer::add_syscall(const RecordHead& head, wire::SyscallBody body,
                               std::span<const RangeData> ranges) {
  // As many ranges as fit in front; the first that does not, and all behind it, in kData records.
  std::size_t fitting = 0;
  std::size_t size = 0;
  while (fitting < ranges.size() &&
         size + ranges[fitting].data.size() + sizeof(wire::RangeHeader) <= kPiece) {
    size += ranges[fitting].data.size() + sizeof(wire::RangeHeader);
    ++fitting;
  }
  const auto rest = ranges.subspan(fitting);
  body.range_count = static_cast<std::uint32_t>(fitting);
  begin(EventKind::kSyscall, head);
  put(&body, sizeof body);
  for (const RangeData& range : ranges.first(fitting)) put_range(range);
  end(total_size(rest) != 0);
  add_pieces(head, rest);
}

void RecordBuffer::add_mapping(const RecordHead& head, wire::MappingBody body, std::string_view name,
                               std::span<const std::byte> data) {
  const auto front = data.first(std::min(kPiece / 2, data.size()));
  const auto rest = data.subspan(front.size());
  body.name_size = static_cast<std::uint32_t>(name.size());
  body.data_size = static_cast<std::uint32_t>(front.size());
  begin(EventKind::kMapping, head);
  put(&body, sizeof body);
  put(name.data(), name.size());
  pad();
  put(front.data(), front.size());
  pad();
  end(!rest.empty());
  const RangeData range{{body.address + front.size()}, wire::Direction::kIn, rest};
  add_pieces(head, {&range, 1});
}

void RecordBuffer::add_start(const RecordHead& head, wire::StartBody body, std::string_view path,
                             std::span<const std::string> argv, std::span<const std::string> envp) {
  std::string strings(path);
  strings += '\0';
  for (const auto* list : {&argv, &envp}) {
    for (const std::string& text : *list) strings.append(text.c_str(), text.size() + 1);
  }
  body.argc = static_cast<std::uint32_t>(argv.size());
  body.envc = static_cast<std::uint32_t>(envp.size());
  body.strings_size = static_cast<std::uint32_t>(strings.size());
  begin(EventKind::kStart, head);
  put(&body, sizeof body);
  put(strings.data(), strings.size());
  pad();
  end(false);
}

void RecordBuffer::add_instruction(const RecordHead& head, const wire::InstructionBody& body) {
  begin(EventKind::kInstruction, head);
  put(&body, sizeof body);
  end(false);
}

void RecordBuffer::add_signal(const RecordHead& head, const wire::SignalBody& body) {
  begin(EventKind::kSignal, head);
  put(&body, sizeof body);
  end(false);
}

void RecordBuffer::add_turn(const RecordHead& head, const wire::TurnBody& body) {
  begin(EventKind::kTurn, head);
  put(&body, sizeof body);
  end(false);
}

void RecordBuffer::add_thread(const RecordHead& head, const wire::ThreadBody& body) {
  begin(EventKind::kThread, head);
  put(&body, sizeof body);
  end(false);
}

void RecordBuffer::add_exit(const RecordHead& head, const wire::ExitBody& body) {
  begin(EventKind::kExit, head);
  put(&body, sizeof body);
  end(false);
}

}  // namespace detrec::event
