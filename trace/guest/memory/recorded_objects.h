// Replay: content that several mappings share - files mapped MAP_SHARED, shared anonymous memory, System V
// segments. Each is a memfd of its own, so that its mappings are aliases of each other as they were when
// recorded, and the kernel's rules for private mappings of a changing file hold too.
#pragma once

#include "trace/guest/memory/address_space.h"

namespace detrec::guest::memory {

struct RecordedObject {
  u64 device = 0, inode = 0;
  i32 fd = -1;
  u64 size = 0;
};

/// The object of that identity; nullptr when there is none.
RecordedObject* find_object(u64 device, u64 inode);

/// The same; creates it, empty, when there is none. nullptr when it cannot be created. Private mappings of
/// the file that exist already become mappings of the object with sync_private_mappings().
RecordedObject* make_object(u64 device, u64 inode, bool& created);

/// Changes an object's size; false when that fails.
bool resize(RecordedObject& object, u64 size);

/// Copies `size` bytes from a file's offset to the object's beginning, whose size they become.
bool fill(RecordedObject& object, i32 from_fd, u64 from_offset, u64 size);

/// Makes private mappings that are older than the object see its changes: pages that are like its own become
/// its pages, all others keep what they have.
void sync_private_mappings(Turn& turn, RecordedObject& object);

}  // namespace detrec::guest::memory
