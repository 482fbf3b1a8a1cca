// The ring of event records that is shared with the server (trace/wire/channel.h): a recorded process writes
// it, a replayed one reads it. Used by the holder of the turn only.
#pragma once

#include "trace/guest/base/types.h"
#include "trace/wire/event.h"
#include "trace/wire/launch.h"

namespace detrec::guest::events {

/// Maps the ring that the launch page describes and sets the mode; nothing when there is none. `fd` is the
/// launch page's.
void start_ring(const wire::Launch& launch, i32 fd);

/// Replay: goes on with a fresh ring at another offset, to which the server appends what comes next.
void move_ring(u64 ring_offset);

/// In a process that must not take part: forgets the mode and unmaps the ring.
void leave_ring();

/// Room for a record of up to wire::kMaxRecordBytes, contiguous; waits while the server is behind. Nobody
/// sees what is written there before commit().
u8* reserve_record();
/// Publishes the `bytes` (a multiple of 8) written since reserve_record().
void commit_record(u64 bytes);

/// Recording: the number of the last capture whose content the server has read.
u32 captures_read();
/// Sleeps until it is no longer `seen`, or a nap.
void await_capture_after(u32 seen);

/// The next record, which stays valid until consume(); waits for the server. nullptr: nothing more will come.
const wire::EventHeader* peek_record();
/// The next record if it is there already, and the one behind it in `after`; nullptr for what is not. As they
/// are in the ring: perhaps a wire::ClockRecord.
const wire::EventHeader* ready_record(const wire::EventHeader*& after);
/// Goes on to the record after the one that peek_record() returned.
void consume_record();

}  // namespace detrec::guest::events
