// The dynamic linker's list of loaded objects, read from a process's memory the way a debugger does.
// System V gABI, "Dynamic Linking"; <link.h> for struct r_debug and struct link_map.
#pragma once

#include "gdbstub/ids.h"
#include "gdbstub/process_info.h"
#include "gdbstub/result.h"

namespace detrec::gdbstub {

class Target;

namespace documents {

/// AT_PHDR -> PT_DYNAMIC -> DT_DEBUG -> r_debug -> link_map chain. An empty list for a static program and
/// before the linker has made its list. An error only if the auxiliary vector cannot be read.
Result<LibraryList> walk_link_maps(Target& target, ProcessId process);

}  // namespace documents
}  // namespace detrec::gdbstub
