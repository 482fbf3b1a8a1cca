// The /proc files of a recorded process, written from what the Target tells: what `info proc` and
// `generate-core-file` read. man 5 proc.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "gdbstub/process_info.h"
#include "gdbstub/target.h"

namespace detrec::gdbstub::documents {

/// What a path under /proc leads to.
struct ProcPath {
  ProcessId process;
  std::string
      file;  ///< "maps", "cmdline", "exe" ...; task/TID/ is left out, as all of it is per process here
};

/// Takes /proc/PID/FILE, /proc/self/FILE (of `current`) and /proc/PID/task/TID/FILE apart; nothing for other
/// paths.
std::optional<ProcPath> parse_proc_path(std::string_view path, ProcessId current);

/// The content of a file that is served: maps, smaps, cmdline, comm, environ, stat, status, auxv,
/// coredump_filter. Nothing for others.
std::optional<std::string> proc_file(const std::string& file, const ProcessInfo& process, Target& target);

/// The text of a link: exe, cwd, root. Nothing for others.
std::optional<std::string> proc_link(const std::string& file, const ProcessInfo& process);

}  // namespace detrec::gdbstub::documents
