// What one connected client has told and chosen so far. Starts afresh with each connection.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "gdbstub/packet/thread_id.h"
#include "gdbstub/session/open_files.h"
#include "gdbstub/stop_event.h"

namespace detrec::gdbstub {

/// The document that qXfer served last, kept so that all its parts are of one state. Forgotten when the
/// Target moves.
struct ServedDocument {
  std::string name;  ///< object and annex
  std::string content;
};

struct Client {
  explicit Client(Target& target) : files(target) {}

  bool acks = true;           ///< until QStartNoAckMode
  bool multiprocess = false;  ///< thread ids are pP.T
  bool swbreak = false, hwbreak = false;
  bool is_lldb = false;  ///< told by the packets that only lldb sends
  bool ended = false;    ///< it detached from, killed or saw the end of the process; vRun starts again

  packet::ThreadSelector general;         ///< Hg: whose registers and memory
  packet::ThreadSelector to_resume;       ///< Hc: for c, s, C, S
  std::set<Signal> pass_signals;          ///< QPassSignals
  std::set<Signal> program_signals;       ///< QProgramSignals: kept, of no effect on a recording
  std::optional<ProcessId> file_process;  ///< vFile:setfs
  OpenFiles files;
  ServedDocument document;
};

}  // namespace detrec::gdbstub
