// The hash by which captured content is recognised: SHA-256, so that nobody can make two files of the same.
#pragma once

#include <nettle/sha2.h>

#include <array>
#include <cstddef>
#include <span>

namespace detrec::storage {

using ContentHash = std::array<std::byte, SHA256_DIGEST_SIZE>;

class ContentHasher {
 public:
  ContentHasher() { sha256_init(&context_); }
  void add(std::span<const std::byte> data) {
    sha256_update(&context_, data.size(), reinterpret_cast<const std::uint8_t*>(data.data()));
  }
  /// The hash of everything added; the hasher starts afresh.
  ContentHash finish() {
    ContentHash hash;
    sha256_digest(&context_, hash.size(), reinterpret_cast<std::uint8_t*>(hash.data()));
    return hash;
  }

 private:
  sha256_ctx context_;
};

}  // namespace detrec::storage
