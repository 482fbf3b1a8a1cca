// The commands: one function a packet, grouped by the files they are in. `args` is what follows the packet's
// name and its separator. gdb manual, sections "Packets" and "General Query Packets".
#pragma once

#include "gdbstub/packet/cursor.h"
#include "gdbstub/session/reply.h"
#include "gdbstub/session/session.h"

namespace detrec::gdbstub::commands {

using packet::Cursor;

/// A malformed packet.
inline Reply malformed() { return Reply::error_code(22); }  // EINVAL

// handshake.cc
Reply supported(Session&, Cursor args);
Reply start_no_ack_mode(Session&, Cursor);
Reply pass_signals(Session&, Cursor args);
Reply program_signals(Session&, Cursor args);
Reply non_stop(Session&, Cursor args);
Reply symbols_wanted(Session&, Cursor);
Reply attached(Session&, Cursor);
Reply extended(Session&, Cursor);
Reply lldb_only(Session&, Cursor);
Reply host_info(Session&, Cursor);
Reply process_info(Session&, Cursor);

// threads.cc
Reply stop_reason(Session&, Cursor);
Reply current_thread(Session&, Cursor);
Reply select_thread(Session&, Cursor args);
Reply thread_alive(Session&, Cursor args);
Reply first_threads(Session&, Cursor);
Reply more_threads(Session&, Cursor);
Reply thread_extra(Session&, Cursor args);

// registers.cc
Reply read_all(Session&, Cursor);
Reply write_all(Session&, Cursor args);
Reply read_one(Session&, Cursor args);
Reply write_one(Session&, Cursor args);

// memory.cc
Reply read_memory(Session&, Cursor args);
Reply read_binary(Session&, Cursor args);
Reply write_memory(Session&, Cursor args);
Reply write_binary(Session&, Cursor args);
Reply search_memory(Session&, Cursor args);
Reply memory_region(Session&, Cursor args);

// breakpoints.cc
Reply insert_breakpoint(Session&, Cursor args);
Reply remove_breakpoint(Session&, Cursor args);

// resume.cc
Reply resume_kinds(Session&, Cursor);
Reply resume_threads(Session&, Cursor args);
Reply resume_continue(Session&, Cursor args);
Reply resume_step(Session&, Cursor args);
Reply resume_continue_signal(Session&, Cursor args);
Reply resume_step_signal(Session&, Cursor args);
Reply backward_continue(Session&, Cursor);
Reply backward_step(Session&, Cursor);

// lifetime.cc
Reply detach(Session&, Cursor args);
Reply kill(Session&, Cursor);
Reply kill_process(Session&, Cursor);
Reply run(Session&, Cursor);
Reply restart(Session&, Cursor);
Reply monitor(Session&, Cursor args);

// transfer.cc
Reply transfer(Session&, Cursor args);

// host_io.cc
Reply host_io(Session&, Cursor args);

}  // namespace detrec::gdbstub::commands
