// Draws programs: random instructions tied together by every kind of control transfer.
#pragma once

#include "tests/fuzz/translator/program.h"

namespace detrec::fuzz {

/// How often a program may go backwards by anything but a counted loop.
inline constexpr unsigned kMostFuel = 40;
/// How often it may return.
inline constexpr unsigned kReturns = 150;

/// `writable`: the code may change itself.
Program build_program(Random& random, const Roles& roles, bool writable);

}  // namespace detrec::fuzz
