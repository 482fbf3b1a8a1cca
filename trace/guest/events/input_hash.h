// A hash of the memory that a system call reads, by which a replay notices that a program passes other data.
#pragma once

#include "trace/guest/syscall/handlers.h"
#include "trace/syscalls/memory.h"

namespace detrec::guest::events {

/// 0 when the call reads no memory.
u32 input_hash(i32 number, const syscall::Args& args, const syscalls::Before& before);

}  // namespace detrec::guest::events
