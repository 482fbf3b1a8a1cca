// What a recorded process sends through the control socket: the descriptor of a file it has mapped, with
// SCM_RIGHTS, and this message.
#pragma once

#include <cstdint>

namespace detrec::wire {

struct CaptureMessage {
  std::uint32_t capture;  ///< its number in MappingBody::capture
  std::uint32_t answer;   ///< 1: the sender waits for one byte, which means that the content has been read
  std::uint64_t device, inode;
  std::uint64_t mtime_ns;
  std::uint64_t size;
  char path[4096];  ///< NUL-terminated
};

}  // namespace detrec::wire
