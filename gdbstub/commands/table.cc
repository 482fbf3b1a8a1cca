#include "gdbstub/commands/table.h"

#include "gdbstub/commands/commands.h"

namespace detrec::gdbstub::commands {

namespace {

/// How the name of a packet ends.
enum class Ends : std::uint8_t {
  kAnywhere,   ///< the arguments follow directly, as in m and Hg
  kSeparator,  ///< nothing follows, or one of : ; , and the arguments
  kWhole       ///< nothing follows
};

struct Row {
  std::string_view name;
  Ends ends;
  Reply (*handler)(Session&, Cursor);
};

constexpr Row kRows[] = {
    {"qSupported", Ends::kSeparator, supported},
    {"QStartNoAckMode", Ends::kWhole, start_no_ack_mode},
    {"QPassSignals", Ends::kSeparator, pass_signals},
    {"QProgramSignals", Ends::kSeparator, program_signals},
    {"QNonStop", Ends::kSeparator, non_stop},
    {"qSymbol", Ends::kSeparator, symbols_wanted},
    {"qAttached", Ends::kSeparator, attached},
    {"!", Ends::kWhole, extended},
    {"QThreadSuffixSupported", Ends::kWhole, lldb_only},
    {"QEnableErrorStrings", Ends::kWhole, lldb_only},
    {"qHostInfo", Ends::kWhole, host_info},
    {"qProcessInfo", Ends::kWhole, process_info},

    {"?", Ends::kWhole, stop_reason},
    {"qC", Ends::kWhole, current_thread},
    {"H", Ends::kAnywhere, select_thread},
    {"T", Ends::kAnywhere, thread_alive},
    {"qfThreadInfo", Ends::kWhole, first_threads},
    {"qsThreadInfo", Ends::kWhole, more_threads},
    {"qThreadExtraInfo", Ends::kSeparator, thread_extra},

    {"g", Ends::kWhole, read_all},
    {"G", Ends::kAnywhere, write_all},
    {"p", Ends::kAnywhere, read_one},
    {"P", Ends::kAnywhere, write_one},

    {"m", Ends::kAnywhere, read_memory},
    {"x", Ends::kAnywhere, read_binary},
    {"M", Ends::kAnywhere, write_memory},
    {"X", Ends::kAnywhere, write_binary},
    {"qSearch:memory", Ends::kSeparator, search_memory},
    {"qMemoryRegionInfo", Ends::kSeparator, memory_region},

    {"Z", Ends::kAnywhere, insert_breakpoint},
    {"z", Ends::kAnywhere, remove_breakpoint},

    {"vCont?", Ends::kWhole, resume_kinds},
    {"vCont", Ends::kSeparator, resume_threads},
    {"c", Ends::kAnywhere, resume_continue},
    {"s", Ends::kAnywhere, resume_step},
    {"C", Ends::kAnywhere, resume_continue_signal},
    {"S", Ends::kAnywhere, resume_step_signal},
    {"bc", Ends::kWhole, backward_continue},
    {"bs", Ends::kWhole, backward_step},

    {"D", Ends::kSeparator, detach},
    {"k", Ends::kWhole, kill},
    {"vKill", Ends::kSeparator, kill_process},
    {"vRun", Ends::kSeparator, run},
    {"R", Ends::kAnywhere, restart},
    {"qRcmd", Ends::kSeparator, monitor},

    {"qXfer", Ends::kSeparator, transfer},
    {"vFile", Ends::kSeparator, host_io},
};

bool is_separator(char c) { return c == ':' || c == ';' || c == ','; }

}  // namespace

Reply dispatch(Session& session, std::string_view payload) {
  for (const auto& row : kRows) {
    if (!payload.starts_with(row.name)) continue;
    auto rest = payload.substr(row.name.size());
    if (row.ends == Ends::kWhole && !rest.empty()) continue;
    if (row.ends == Ends::kSeparator && !rest.empty()) {
      if (!is_separator(rest.front())) continue;
      rest.remove_prefix(1);
    }
    return row.handler(session, Cursor(rest));
  }
  return Reply::empty();
}

}  // namespace detrec::gdbstub::commands
