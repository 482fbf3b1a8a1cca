// A hard limit on the address space that leaves no room for the engine is refused with a message before the
// program starts.
// @limits: as=3000000000
// @engine-only-exit: 125
// @engine-stderr: hard limit .* address space
// @differs: the engine needs room of its own, which a hard limit forbids
#include "guest.h"

int main(void) { return guest_result(); }
