// What a process that stands still is asked: registers, memory, threads, mappings, checkpoints.
#pragma once

#include "trace/guest/run/turn.h"

namespace detrec::guest::debug {

/// Serves requests until one of them is to run, which is left unanswered. In a new checkpoint it goes on
/// there.
void serve_requests(Turn& turn);

}  // namespace detrec::guest::debug
