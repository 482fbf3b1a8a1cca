// Structures with lengths or pointers of their own (Length::kNested). Internal to this folder.
#pragma once

#include "trace/syscalls/walk.h"

namespace detrec::syscalls::detail {

/// Visits what the kernel reads through argument `index` of the walk's call.
void read_nested(Walk& walk, int index);

/// Visits what the kernel writes, or may write, through argument `index` of the walk's call.
void write_nested(Walk& walk, int index);

}  // namespace detrec::syscalls::detail
