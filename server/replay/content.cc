#include "server/replay/content.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace detrec::server {
namespace {

constexpr std::uint64_t kPage = 4096;

std::uint64_t page_up(std::uint64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

}  // namespace

event::Result<Content> Content::load(storage::TraceReader& reader) {
  const auto captures = reader.captures();
  if (!captures) return captures.error();
  Content content(memfd_create("detrec-content", MFD_CLOEXEC));
  if (content.descriptor_ < 0)
    return event::Error{event::ErrorCode::kIo, std::strerror(errno), "memfd_create"};
  std::map<std::int64_t, Place> by_file;  // captures of the same content share it
  for (const storage::Capture& capture : captures.value()) {
    auto [at, is_new] = by_file.try_emplace(capture.file);
    if (is_new) {
      at->second = {content.bytes_, capture.info.size};
      const auto copied = reader.copy_capture(capture, content.descriptor_, at->second.offset);
      if (!copied) return copied.error();
      content.bytes_ += page_up(capture.info.size);
    }
    content.places_[capture.number] = at->second;
  }
  if (ftruncate(content.descriptor_, static_cast<off_t>(content.bytes_)) != 0)
    return event::Error{event::ErrorCode::kIo, std::strerror(errno), "ftruncate"};
  return content;
}

Content::Content(Content&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      bytes_(other.bytes_),
      places_(std::move(other.places_)) {}

Content::~Content() {
  if (descriptor_ >= 0) close(descriptor_);
}

event::Result<std::span<const std::byte>> Content::place(const event::DecodedRecord& record,
                                                         std::vector<std::byte>& buffer) const {
  const auto* mapping = record.view.as<event::MappingView>();
  if (mapping == nullptr || mapping->body->content != wire::Content::kCapture) return record.bytes;
  const auto at = places_.find({mapping->body->capture});
  if (at == places_.end())
    return event::Error{event::ErrorCode::kInvalid, "a mapped file is missing in the trace"};
  buffer.assign(record.bytes.begin(), record.bytes.end());
  auto* body = reinterpret_cast<wire::MappingBody*>(buffer.data() + sizeof(wire::EventHeader));
  body->content_offset = at->second.offset;
  body->content_size = at->second.size;
  return std::span<const std::byte>(buffer);
}

}  // namespace detrec::server
