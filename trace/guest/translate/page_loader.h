// Takes all kept blocks of a page into service at once (translation_store.h): one look at the guest's memory
// for all of them, and links between them that need no exit.
#pragma once

#include "trace/guest/translate/block_index.h"
#include "trace/guest/translate/emitter.h"

namespace detrec::guest::translate {

/// Room that load_page may take, in the cache and in the index.
inline constexpr u64 kMaxPageCode = 512 * 1024, kMaxPageStubs = 512 * 1024;
inline constexpr u64 kMaxPageBlocks = 4096, kMaxPageInsns = 128 * 1024, kMaxPageSites = 64 * 1024;

/// Loads what is kept of `page`, whose code is steady, and current: byte for byte what it was made from.
/// `at` and `cold` are where code and stubs go, and move on. Returns the number of blocks.
u32 load_page(u32 chain, Page& page, CacheAddr& at, CacheAddr& cold);

}  // namespace detrec::guest::translate
