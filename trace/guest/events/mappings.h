// Files that become memory: captured when recording, taken from the capture when replaying.
#pragma once

#include "trace/guest/events/mode.h"
#include "trace/guest/memory/address_space.h"

namespace detrec::guest::events {

/// A file that has been mapped.
struct FileMapping {
  GuestAddr address;
  u64 length;
  u32 protection;
  u32 flags;  ///< MAP_*
  i32 fd;
  u64 offset;
  const memory::Object* object;
};

/// Recording: has the file captured (once for each version of it), and appends an event when the guest runs
/// already.
void record_file_mapping(Turn& turn, const FileMapping& mapping);

/// The capture of a mapped file; 0: none.
u32 capture_of(u64 device, u64 inode);

/// Replay: makes the mapping that the next event (and its kData records) describes, and takes the event.
void replay_mapping(Turn& turn);

}  // namespace detrec::guest::events
