// Write protection of pages that hold translated code, and dropping their blocks. The public side is
// code_pages.h.
#pragma once

#include "trace/guest/translate/block_index.h"

namespace detrec::guest::translate {

/// Before code of the page at `address` is translated: takes the write permission from it, and from pages
/// that alias it.
void protect_code_page(Turn& turn, GuestAddr address);

/// Restores the guest's permissions everywhere (the translations are about to be forgotten).
void unprotect_all(Turn& turn);

/// Takes a block out of service: its table entries and the links to it (translator.cc).
void drop_block(Block& block);

}  // namespace detrec::guest::translate
