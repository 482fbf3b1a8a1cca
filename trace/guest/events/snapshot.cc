#include "trace/guest/events/snapshot.h"

#include <linux/mman.h>

#include "trace/guest/base/probe.h"
#include "trace/guest/base/string.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/events/calls.h"
#include "trace/guest/events/divergence.h"
#include "trace/guest/events/duration.h"
#include "trace/guest/events/mappings.h"
#include "trace/guest/events/record.h"
#include "trace/guest/process.h"
#include "trace/guest/run/ticks.h"
#include "trace/guest/signal/signals.h"

namespace detrec::guest::events {
namespace {

using memory::Region;

/// kData records of a region's pages that are not zero. Each is committed when the next is there, so that the
/// last can say that it is the last.
class PageWriter {
 public:
  PageWriter(Turn& turn, Record& mapping) : turn_(turn), current_(mapping) {}

  void add(GuestAddr page, const u8* content) {
    if (size_ == 0 || page != end_ || size_ + kPageSize > wire::kPieceBytes) begin_piece(page);
    memcpy(current_.take(kPageSize), content, kPageSize);
    end_ = page + kPageSize;
    size_ += kPageSize;
    range_->size = static_cast<u32>(size_);
  }
  void finish() { current_.commit(false); }

 private:
  void begin_piece(GuestAddr page) {
    current_.commit(true);
    current_ = Record(turn_, wire::EventKind::kData);
    range_ = &current_.append<wire::RangeHeader>();
    range_->address = page;
    size_ = 0;
  }

  Turn& turn_;
  Record& current_;
  wire::RangeHeader* range_ = nullptr;
  GuestAddr end_ = 0;
  u64 size_ = 0;
};

bool is_zero(const u8* page) {
  auto* words = reinterpret_cast<const u64*>(page);
  for (u64 i = 0; i < kPageSize / sizeof(u64); ++i) {
    if (words[i] != 0) return false;
  }
  return true;
}

/// Anonymous memory that was never touched need not be looked at.
void add_pages(PageWriter& pages, const Region& region) {
  alignas(8) static u8 content[kPageSize];
  constexpr u64 kBatch = 1024;
  static u8 resident[kBatch];
  for (GuestAddr at = region.begin; at < region.end; at += kBatch * kPageSize) {
    u64 count = (region.end - at) / kPageSize < kBatch ? (region.end - at) / kPageSize : kBatch;
    bool known =
        !region.is_file() && !failed(raw_syscall(__NR_mincore, at, count * kPageSize, arg(resident)));
    for (u64 i = 0; i < count; ++i) {
      if (known && (resident[i] & 1) == 0) continue;
      GuestAddr page = at + i * kPageSize;
      if (read_guest(content, page, kPageSize) && !is_zero(content)) pages.add(page, content);
    }
  }
}

void record_region(Turn& turn, const Region& region) {
  Record record(turn, wire::EventKind::kMapping);
  auto& body = append_mapping(record, region.device, region.inode, region.name);
  body.address = region.begin;
  body.length = region.bytes();
  body.protection = region.prot;
  body.map_flags =
      static_cast<u32>((region.shared ? MAP_SHARED : MAP_PRIVATE) | (region.is_file() ? 0 : MAP_ANONYMOUS) |
                       (region.grows_down ? MAP_GROWSDOWN | MAP_STACK : 0));
  body.file_offset = region.file_offset;
  bool untouched = region.is_file() && (region.prot & PROT_WRITE) == 0;
  body.capture = untouched ? capture_of(region.device, region.inode) : 0;
  if (body.capture != 0) {
    body.content = wire::Content::kCapture;
    record.commit();
    return;
  }
  if (region.prot == 0) {
    record.commit();
    return;
  }
  body.content = wire::Content::kData;
  PageWriter pages(turn, record);
  add_pages(pages, region);
  pages.finish();
}

}  // namespace

void record_segment(Turn& turn, GuestAddr address) {
  const Region* region = memory::address_space().map.find(address);
  if (region != nullptr) record_region(turn, *region);
}

namespace {

/// As many whole strings of an array as fit; returns their number.
u32 add_strings(Record& record, const char* const* strings) {
  u32 count = 0;
  for (; strings[count] != nullptr; ++count) {
    u64 size = strlen(strings[count]) + 1;
    if (size + 8 > record.room()) break;
    memcpy(record.take_packed(size), strings[count], size);
  }
  return count;
}

void fill_limits(wire::StartBody& body) {
  for (u64 i = 0; i < 16; ++i) raw_syscall(__NR_prlimit64, 0, i, 0, arg(body.limits[i]));
}

}  // namespace

void record_start(Turn& turn, const load::Program& program) {
  if (!recording()) return;
  start_outputs();
  start_durations();
  const memory::RegionMap& map = memory::address_space().map;
  for (const Region* r = map.at_or_after(0); r != nullptr; r = map.at_or_after(r->end))
    record_region(turn, *r);

  Record record(turn, wire::EventKind::kStart);
  auto& body = record.append<wire::StartBody>();
  for (int i = 0; i < 16; ++i) body.gpr[i] = turn.regs().gpr[i];
  body.rflags = turn.regs().rflags;
  body.pid = turn.thread().pid;
  body.tid = turn.thread().tid;
  body.parent_pid = static_cast<i32>(raw_syscall(__NR_getppid));
  memory::ImagePlaces places = memory::image_places();
  body.brk_start = places.brk_start;
  body.brk = places.brk;
  body.stack_start = places.stack_start;
  body.linker_begin = places.linker_begin;
  body.linker_end = places.linker_end;
  signal::InheritedSignals inherited = signal::inherited(turn);
  body.signal_mask = inherited.blocked;
  body.ignored_signals = inherited.ignored;
  fill_limits(body);
  body.limits[3][0] = places.stack_limit;
  u8* strings = record.end();
  u64 size = strlen(program.path) + 1;
  memcpy(record.take_packed(size), program.path, size);
  body.argc = add_strings(record, program.argv);
  body.envc = add_strings(record, program.envp);
  body.strings_size = static_cast<u32>(record.end() - strings);
  record.pad();
  record.commit();
}

void replay_start(Turn& turn) {
  while (next_event(turn).kind == wire::EventKind::kMapping) replay_mapping(turn);
  const wire::EventHeader& event = next_event(turn);
  if (event.kind != wire::EventKind::kStart) diverge(turn, "the recording lacks the start of a program");
  if (event.ticks != 0) diverge(turn, "the recording starts at %lu ticks", event.ticks);
  if (event.thread != turn.thread().number) diverge(turn, "the recording starts with another thread");
  const auto& body = body_of<wire::StartBody>(event);
  Registers& regs = turn.regs();
  for (int i = 0; i < 16; ++i) regs.gpr[i] = body.gpr[i];
  regs.rflags = body.rflags;
  regs.pc = event.pc;
  turn.thread().pid = body.pid;
  turn.thread().tid = body.tid;
  process().pid = body.pid;
  process().parent_pid = body.parent_pid;
  memory::set_image_places(
      {body.brk_start, body.brk, body.stack_start, body.linker_begin, body.linker_end, body.limits[3][0]});
  signal::set_inherited(turn, {body.signal_mask, body.ignored_signals});
  take_event();
}

}  // namespace detrec::guest::events
