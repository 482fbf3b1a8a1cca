// The lists that qXfer serves as XML: threads and shared libraries.
#pragma once

#include <span>
#include <string>

#include "gdbstub/process_info.h"

namespace detrec::gdbstub::documents {

/// gdb manual, "Thread List Format".
std::string threads_xml(std::span<const ThreadInfo> threads, bool multiprocess);
/// gdb manual, "Library List Format for SVR4 Targets".
std::string libraries_xml(const LibraryList& list);

}  // namespace detrec::gdbstub::documents
