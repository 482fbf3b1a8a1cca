// The version of what the server and the engines of a run share. It is private to one build: an engine that
// meets another number was built from other sources than the detrec that started it.
#pragma once

#include "trace/wire/capture.h"
#include "trace/wire/clock_record.h"
#include "trace/wire/debug.h"
#include "trace/wire/event.h"
#include "trace/wire/launch.h"
#include "trace/wire/translations.h"
#include "trace/wire/turns.h"

namespace detrec::wire {

/// One higher whenever the same bytes mean something else.
inline constexpr std::uint32_t kMeaning = 6;

/// FNV-1a (32 bits) over sizes: most changes of a layout change one of them.
template <typename... Types>
constexpr std::uint32_t mix_sizes(std::uint32_t hash) {
  ((hash = (hash ^ static_cast<std::uint32_t>(sizeof(Types))) * 0x0100'0193u), ...);
  return hash;
}

inline constexpr std::uint32_t kWireVersion =
    mix_sizes<Launch, RingControl, CaptureMessage, EventHeader, RangeHeader, StartBody, MappingBody,
              SyscallBody, InstructionBody, SignalBody, TurnBody, ThreadBody, ExitBody, ClockRecord,
              DebugMailbox, DebugRun, DebugStop, DebugTrailEntry, DebugRegisters, TurnRequest, TurnBoard,
              TranslationStore, TranslationRecord>(0x811c'9dc5u ^ kMeaning);

}  // namespace detrec::wire
