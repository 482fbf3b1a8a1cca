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
  /// The bytes of a record as a replayed process gets it: a mapping's say where its content is here. In
  /// `buffer` when they are not the record's own. kInvalid: the trace refers to a capture that it does not
  /// have.
  event::Result<std::span<const std::byte>> place(const event::DecodedRecord& record,
                                                  std::vector<std::byte>& buffer) const;

 private:
  explicit Content(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
  std::uint64_t bytes_ = 0;
  std::map<storage::CaptureNumber, Place> places_;
};

}  // namespace detrec::server
