// Detaching, killing, starting again; and commands of the Target's own. A recording outlives them all: what
// ends is what the client has with it.
#include "gdbstub/commands/commands.h"
#include "gdbstub/packet/hex.h"

namespace detrec::gdbstub::commands {

Reply detach(Session& session, Cursor) {
  session.end_process();
  return Reply::ok();
}

Reply kill(Session& session, Cursor) {
  session.end_process();
  session.hang_up();
  return Reply::later();
}

Reply kill_process(Session& session, Cursor) {
  session.end_process();
  return Reply::ok();
}

/// The program and its arguments are the recorded ones, whatever the client names.
Reply run(Session& session, Cursor) { return session.restart(true); }

Reply restart(Session& session, Cursor) { return session.restart(false); }

Reply monitor(Session& session, Cursor args) {
  const auto command = packet::text_from_hex(args.rest());
  if (!command) return malformed();
  return session.monitor(*command);
}

}  // namespace detrec::gdbstub::commands
