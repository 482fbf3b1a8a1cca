// Delivery: from a signal to a frame on the guest's stack, or to the default action.
#pragma once

#include "trace/guest/run/turn.h"
#include "trace/guest/signal/actions.h"

namespace detrec::guest::signal {

/// Builds the frame of a handler and enters it: changes registers, mask and vector state. False when the
/// frame cannot be written; nothing but the stack's content has changed then.
bool enter_handler(Turn& turn, const Action& action, const SignalInfo& info);

/// The kernel's force_sig: a signal the guest cannot avoid, with si_code SI_KERNEL and no address. Kills when
/// it is blocked, ignored or not handled.
void force_signal(Turn& turn, int signo);

}  // namespace detrec::guest::signal
