// What load/ keeps of the program it has loaded, for /proc/self.
#pragma once

#include "trace/guest/load/initial_stack.h"

namespace detrec::guest::load {

/// The absolute path behind the open descriptor (or `path` where /proc is not mounted).
void remember_executable(i32 fd, const char* path);

/// Where arguments and environment lie on the guest's stack, and its auxiliary vector.
void remember_stack(const StackLayout& layout, const AuxVector& auxv);

/// A range of guest memory.
struct GuestRange {
  GuestAddr begin, end;
};
/// Arguments and environment, as the guest may have changed them since (/proc/self/cmdline, environ).
GuestRange argument_range();
GuestRange environment_range();

/// The program's code, and what the kernel is told about the program so that /proc shows outsiders the
/// guest's: as struct mm_struct has them.
struct ProgramRanges {
  GuestRange code, data;
  GuestAddr brk, stack;
};
void remember_ranges(const ProgramRanges& ranges);
GuestRange code_range();

}  // namespace detrec::guest::load
