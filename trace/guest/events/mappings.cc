#include "trace/guest/events/mappings.h"

#include <linux/mman.h>

#include "trace/guest/base/string.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/events/divergence.h"
#include "trace/guest/events/record.h"
#include "trace/guest/memory/guest_map.h"
#include "trace/guest/process.h"

namespace detrec::guest::events {
namespace {

/// Data for pages that nothing has been translated from yet; they may be read-only in the end.
void fill_pages(Turn& turn, GuestAddr begin, GuestAddr end) {
  for (bool more = true; more;) {
    const wire::EventHeader& data = next_event(turn);
    if (data.kind != wire::EventKind::kData) diverge(turn, "the recording lacks data of a mapping");
    const auto& range = body_of<wire::DataBody>(data).range;
    if (range.address < begin || range.address > end || range.size > end - range.address)
      diverge(turn, "the recording has data outside of its mapping");
    memcpy(reinterpret_cast<void*>(range.address), &range + 1, range.size);
    more = (data.flags & wire::kMoreData) != 0;
    take_event();
  }
}

memory::RecordedMapping described_by(const wire::EventHeader& event) {
  const auto& body = body_of<wire::MappingBody>(event);
  static char name[4096];
  u64 name_size = body.name_size < sizeof name ? body.name_size : sizeof name - 1;
  memcpy(name, &body + 1, name_size);
  name[name_size] = 0;
  memory::RecordedMapping m{};
  m.address = body.address;
  m.length = body.length;
  m.prot = body.protection;
  m.flags = body.map_flags;
  m.device = body.device;
  m.inode = body.inode;
  m.file_offset = body.file_offset;
  m.name = name;
  m.content_fd = body.content == wire::Content::kCapture ? process().launch->content_fd : -1;
  m.content_offset = body.content_offset;
  m.content_size = body.content_size;
  m.content_end = process().launch->content_bytes;
  m.shm = memory::is_segment(body.device, body.inode);
  return m;
}

}  // namespace

wire::MappingBody& append_mapping(Record& record, u64 device, u64 inode, u32 name) {
  auto& body = record.append<wire::MappingBody>();
  body.device = device;
  body.inode = inode;
  const char* text = memory::address_space().names.text(name);
  body.name_size = static_cast<u32>(strlen(text));
  memcpy(record.take(body.name_size), text, body.name_size);
  return body;
}

GuestAddr replay_mapping(Turn& turn) {
  const wire::EventHeader& event = next_event(turn);
  memory::RecordedMapping m = described_by(event);
  bool filled = (event.flags & wire::kMoreData) != 0;
  u32 prot = m.prot;
  if (filled) m.prot = PROT_READ | PROT_WRITE;
  SysResult r = memory::map_recorded(turn, m);
  if (failed(r)) diverge(turn, "the recorded mapping at 0x%lx cannot be made: error %ld", m.address, -r);
  take_event();
  if (!filled) return m.address;
  fill_pages(turn, m.address, m.address + m.length);
  if (prot != m.prot) r = memory::mprotect(turn, m.address, m.length, prot);
  if (failed(r)) diverge(turn, "the recorded mapping at 0x%lx cannot be protected: error %ld", m.address, -r);
  return m.address;
}

void replay_shorter_file(Turn& turn) {
  memory::RecordedMapping m = described_by(expect_event(turn, wire::EventKind::kMapping));
  if (!memory::replace_content(turn, m))
    diverge(turn, "the recorded content of a file cannot be put in place");
  take_event();
}

}  // namespace detrec::guest::events
