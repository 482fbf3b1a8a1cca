// Which threads there are, and which of them is meant.
#include <algorithm>
#include <cerrno>

#include "gdbstub/commands/commands.h"
#include "gdbstub/packet/hex.h"
#include "gdbstub/packet/thread_id.h"

namespace detrec::gdbstub::commands {

namespace {

bool is_alive(Session& session, const packet::ThreadSelector& selector) {
  const auto threads = session.target().threads();
  return std::ranges::any_of(threads, [&](const ThreadInfo& thread) { return selector.matches(thread.id); });
}

}  // namespace

Reply stop_reason(Session& session, Cursor) { return Reply::text(session.last_stop_reply()); }

Reply current_thread(Session& session, Cursor) {
  return Reply::text("QC" + packet::thread_text(session.general_thread(), session.client().multiprocess));
}

Reply select_thread(Session& session, Cursor args) {
  const auto operation = args.chars(1);
  const auto selector = packet::read_thread(args);
  if (!selector || !args.at_end()) return malformed();
  if (!is_alive(session, *selector)) {
    // gdb does not look at this error: what it asks next must not be answered for whoever was chosen before.
    if (operation == "g") session.client().general = {};
    return Reply::error_code(ESRCH);
  }
  if (operation == "g") {
    session.client().general = *selector;
  } else if (operation == "c") {
    session.client().to_resume = *selector;
  } else {
    return Reply::empty();
  }
  return Reply::ok();
}

Reply thread_alive(Session& session, Cursor args) {
  const auto selector = packet::read_thread(args);
  if (!selector || !args.at_end()) return malformed();
  return !session.client().ended && is_alive(session, *selector) ? Reply::ok() : Reply::error_code(ESRCH);
}

Reply first_threads(Session& session, Cursor) {
  std::string text;
  if (!session.client().ended) {
    for (const auto& thread : session.target().threads()) {
      text += (text.empty() ? "m" : ",") + packet::thread_text(thread.id, session.client().multiprocess);
    }
  }
  return Reply::text(text.empty() ? "l" : text);
}

/// One packet has room for all of them.
Reply more_threads(Session&, Cursor) { return Reply::text("l"); }

Reply thread_extra(Session& session, Cursor args) {
  const auto selector = packet::read_thread(args);
  if (!selector || !args.at_end()) return malformed();
  for (const auto& thread : session.target().threads()) {
    if (!selector->matches(thread.id)) continue;
    return Reply::text(
        packet::hex_text(thread.extra.empty() ? thread.name : thread.name + ": " + thread.extra));
  }
  return Reply::error_code(ESRCH);
}

}  // namespace detrec::gdbstub::commands
