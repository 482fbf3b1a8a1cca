// Captured files: content that a run mapped or read, kept in the trace.
#pragma once

#include <cstdint>
#include <string>

namespace detrec::storage {

/// Number of a capture in its run, from 1: what MappingBody::capture says.
struct CaptureNumber {
  std::uint32_t value = 0;
  friend auto operator<=>(const CaptureNumber&, const CaptureNumber&) = default;
};

/// The file that was captured. Several captures may have the same content; it is stored once.
struct CaptureInfo {
  std::string path;  ///< as the guest named it; for people
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t mtime_ns = 0;
  std::uint64_t size = 0;  ///< filled in by the writer
};

}  // namespace detrec::storage
