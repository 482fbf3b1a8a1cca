// What a replayed process may ask of the kernel: memory, waiting, and copies of itself. A trace is untrusted
// input, and replaying it runs its code; this is the wall behind the engine, for what might get past it.
#pragma once

namespace detrec::guest::events {

/// Installs the seccomp filter, which an execve of the engine keeps, and sees it refuse a call. Says so in
/// one line where the kernel does not do it.
void start_sandbox();

}  // namespace detrec::guest::events
