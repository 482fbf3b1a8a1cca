// Replay: the next event, and what happens when the guest does something else.
#pragma once

#include "trace/guest/run/turn.h"
#include "trace/wire/event.h"

namespace detrec::guest::events {

/// The next event of the recording. A recording that ends here ends the replay.
const wire::EventHeader& next_event(Turn& turn);

/// The same, which must be of this kind, of the running thread, and at its ticks and pc.
const wire::EventHeader& expect_event(Turn& turn, wire::EventKind kind);

/// The body of an event.
template <class Body>
const Body& body_of(const wire::EventHeader& event) {
  return *reinterpret_cast<const Body*>(&event + 1);
}

/// Done with the event (or kData record) that next_event() returned: goes on.
void take_event();

/// Ends the replay: it differs from its recording. The message says how.
[[noreturn]] void diverge(Turn& turn, const char* message, ...) __attribute__((format(printf, 2, 3)));

/// True for the end of a process by a signal of which it did not hear, when its ticks have been reached.
bool is_kill(const wire::EventHeader& event);
/// Ends the replay there.
[[noreturn]] void end_killed(Turn& turn, const wire::EventHeader& event);

/// What a kind is called in messages.
const char* kind_name(wire::EventKind kind);

}  // namespace detrec::guest::events
