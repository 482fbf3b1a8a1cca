// target.xml: what registers there are, in gdb's terms. gdb manual, "Target Descriptions", "i386 Features".
#pragma once

#include <string>

#include "gdbstub/registers/layout.h"

namespace detrec::gdbstub::registers {

/// The document for a layout. Only types that gdb 8 knows already: a debugger rejects the whole document for
/// one type that is newer than itself.
std::string target_xml(const Layout& layout);

}  // namespace detrec::gdbstub::registers
