// The captured files of a trace in one memory file, from which a replayed process maps them.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "storage/trace_reader.h"

namespace detrec::server {

class Content {
 public:
  /// Where a capture is.
  struct Place {
    std::uint64_t offset = 0;  ///< whole pages
    std::uint64_t size = 0;    ///< bytes
  };

  /// Copies all captures out of the trace.
  static event::Result<Content> load(storage::TraceReader& reader);
  Content(Content&& other) noexcept;
  Content& operator=(Content&&) = delete;
  ~Content();

  int descriptor() const { return descriptor_; }
  std::uint64_t bytes() const { return bytes_; }
  /// nullptr: no such capture.
  const Place* find(storage::CaptureNumber number) const;

 private:
  explicit Content(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
  std::uint64_t bytes_ = 0;
  std::map<storage::CaptureNumber, Place> places_;
};

/// A kMapping record with Content::kCapture, completed with where its content is.
std::vector<std::byte> place_content(std::span<const std::byte> record, const Content::Place& place);

}  // namespace detrec::server
