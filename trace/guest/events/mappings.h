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

/// Recording: a System V segment has been attached at `address`, with what others have stored there.
void record_segment(Turn& turn, GuestAddr address);

/// Recording: the kernel has changed, or may have, the content of a mapped file from `begin` to `end` (bytes
/// in the file). What the guest's mappings show there then goes along with the call's event.
void note_file_change(u64 device, u64 inode, u64 begin, u64 end);
/// The same for memory that a call has changed by ways that the table does not describe.
void note_memory_change(GuestAddr begin, GuestAddr end);
/// Recording: a mapped file has become shorter.
void record_shorter_file(Turn& turn, i32 fd, u64 device, u64 inode);

/// Calls visit(begin, size) for the guest's memory that has been noted, and forgets it.
void take_changes(void (*visit)(GuestAddr begin, u64 size, void* arg), void* arg);

/// Replay: takes the event of record_shorter_file.
void replay_shorter_file(Turn& turn);

/// Recording, before something that may change the content of a file: waits until the server has read what of
/// it was captured. It reads later, so that a start does not wait for all libraries.
void await_captures_of(u64 device, u64 inode);
/// The same for all files.
void await_captures();
/// True when a capture's content may not have been read yet.
bool captures_pending();

/// The capture of a mapped file; 0: none.
u32 capture_of(u64 device, u64 inode);

/// Replay: makes the mapping that the next event (and its kData records) describes, and takes the event.
/// Returns its address.
GuestAddr replay_mapping(Turn& turn);

}  // namespace detrec::guest::events
