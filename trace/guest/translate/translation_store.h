// Translations that are kept: blocks that a process of this run, or of an earlier one, has translated and
// stored (trace/wire/translations.h). Only code that is a file's and that the guest cannot write is kept.
#pragma once

#include "trace/guest/translate/stored_block.h"

namespace detrec::guest::translate {

class BlockTranslator;

/// Maps the stores that the launch page names. None is used when a debugger puts its own into blocks, or when
/// the number of translations has a meaning (--translate-limit).
void start_stores();

/// The chain of the blocks of pc's page. False when none are kept of it.
bool find_chain(GuestAddr pc, u32& chain);

/// Copies whole records of the page that the process has not looked at yet, newest first, to `room`. They may
/// be of other content. Returns how many; `records` has `most`.
int fetch_records(u32 chain, Page& page, u8* room, u64 bytes, u8** records, int most);

/// Keeps the block that `t` has just translated.
void store_block(u32 chain, Page& page, const BlockTranslator& t);

}  // namespace detrec::guest::translate
