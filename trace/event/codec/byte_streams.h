// Growing byte streams with LEB128 varints, and their untrusting readers. Internal to the codec.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace detrec::event::codec {

constexpr std::uint64_t zigzag(std::uint64_t difference) {
  return (difference << 1) ^ (0 - (difference >> 63));
}
constexpr std::uint64_t unzigzag(std::uint64_t coded) { return (coded >> 1) ^ (0 - (coded & 1)); }

class ByteSink {
 public:
  std::span<const std::byte> bytes() const { return {buffer_.data(), size_}; }
  std::size_t size() const { return size_; }
  void clear() { size_ = 0; }

  void byte(std::uint8_t value) {
    reserve(1);
    buffer_[size_++] = std::byte{value};
  }
  void varint(std::uint64_t value) {
    reserve(kMaxVarint);
    while (value >= 0x80) {
      buffer_[size_++] = static_cast<std::byte>(value | 0x80);
      value >>= 7;
    }
    buffer_[size_++] = static_cast<std::byte>(value);
  }
  /// A difference that may be negative; taken modulo 2^64.
  void signed_varint(std::uint64_t difference) { varint(zigzag(difference)); }
  void raw(const void* data, std::size_t size) {
    if (size == 0) return;
    reserve(size);
    std::memcpy(buffer_.data() + size_, data, size);
    size_ += size;
  }
  template <typename T>
  void value(const T& data) {
    raw(&data, sizeof data);
  }

 private:
  static constexpr std::size_t kMaxVarint = 10;

  void reserve(std::size_t size) {
    if (buffer_.size() - size_ < size) buffer_.resize((buffer_.size() + size) * 2);
  }

  std::vector<std::byte> buffer_;
  std::size_t size_ = 0;
};

/// Reads what a ByteSink wrote. Reading past the end, or a varint that is none, gives zeros and makes ok()
/// false for good, so that a caller may check once for several fields.
class ByteSource {
 public:
  ByteSource() = default;
  explicit ByteSource(std::span<const std::byte> bytes) : at_(bytes.data()), end_(at_ + bytes.size()) {}

  bool ok() const { return ok_; }
  std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }

  std::uint8_t byte() {
    if (at_ == end_) return fail();
    return static_cast<std::uint8_t>(*at_++);
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && at_ != end_; shift += 7) {
      const auto next = static_cast<std::uint8_t>(*at_++);
      value |= std::uint64_t{next & 0x7fu} << shift;
      if (next < 0x80) return value;
    }
    return fail();
  }
  std::uint64_t signed_varint() { return unzigzag(varint()); }
  bool raw(void* to, std::size_t size) {
    if (size > left()) {
      fail();
      return false;
    }
    if (size != 0) std::memcpy(to, at_, size);
    at_ += size;
    return true;
  }
  template <typename T>
  T value() {
    T data{};
    raw(&data, sizeof data);
    return data;
  }

 private:
  std::uint8_t fail() {
    at_ = end_;
    ok_ = false;
    return 0;
  }

  const std::byte* at_ = nullptr;
  const std::byte* end_ = nullptr;
  bool ok_ = true;
};

}  // namespace detrec::event::codec
