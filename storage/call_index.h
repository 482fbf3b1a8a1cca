// The tables `syscall`, `descriptor` and `output`, made from the events when a recording has ended. Internal
// to storage.
#pragma once

#include "storage/sqlite.h"

namespace detrec::storage {

/// Fills the tables anew, in one transaction.
Status fill_call_index(sqlite::Database& database);

}  // namespace detrec::storage
