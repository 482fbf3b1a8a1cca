// A small made-up run: two processes, three threads, signals, output, files.
#pragma once

#include "trace/event/record_builder.h"

namespace detrec::storage::testing {

event::RecordBuffer sample_run();

}  // namespace detrec::storage::testing
