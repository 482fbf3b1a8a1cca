// Recording: the context page lies in the channel, so that the ticks of a process that is killed can be read
// there.
#pragma once

#include "trace/guest/base/types.h"
#include "trace/wire/launch.h"

namespace detrec::guest::events {

/// Puts the context page, with what is in it, into the channel.
void share_context(wire::Launch& launch, i32 fd);

/// Around a fork, which must not leave the child with its parent's context: the page is private, then shared
/// again.
void unshare_context();
void share_context_again();

}  // namespace detrec::guest::events
