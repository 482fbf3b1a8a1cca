// The hash by which captured content is recognised: SHA-256, so that nobody can make two files of the same.
#pragma once

#include <nettle/sha2.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace detrec::storage {

using ContentHash = std::array<std::byte, SHA256_DIGEST_SIZE>;

class ContentHasher {
 public:
  ContentHasher() {
    sha256_init(&context_);
    sha256_init(&holes_);
  }
  void add(std::span<const std::byte> data) {
    sha256_update(&context_, data.size(), reinterpret_cast<const std::uint8_t*>(data.data()));
  }
  /// Instead of zeros: so many bytes at `offset` that are a hole of the file.
  void add_hole(std::uint64_t offset, std::uint64_t size) {
    for (const std::uint64_t number : {offset, size}) {
      std::array<std::uint8_t, sizeof number> bytes;
      for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(number >> (8 * i));
      sha256_update(&holes_, bytes.size(), bytes.data());
    }
    any_hole_ = true;
  }
  /// The hash of everything added; the hasher starts afresh.
  ContentHash finish() {
    ContentHash hash;
    sha256_digest(&context_, hash.size(), reinterpret_cast<std::uint8_t*>(hash.data()));
    return any_hole_ ? with_holes(hash) : hash;
  }

 private:
  /// Over both, and every bit inverted: no content can be made of which this is the plain hash.
  ContentHash with_holes(const ContentHash& data) {
    ContentHash hash;
    auto* bytes = reinterpret_cast<std::uint8_t*>(hash.data());
    sha256_digest(&holes_, hash.size(), bytes);
    add(data);
    add(hash);
    sha256_digest(&context_, hash.size(), bytes);
    for (std::byte& byte : hash) byte = ~byte;
    any_hole_ = false;
    return hash;
  }

  sha256_ctx context_, holes_;
  bool any_hole_ = false;
};

}  // namespace detrec::storage
