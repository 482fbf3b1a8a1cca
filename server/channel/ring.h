// The server's side of the ring of event records (trace/wire/channel.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "trace/event/result.h"
#include "trace/wire/event.h"
#include "trace/wire/launch.h"

namespace detrec::server {

/// The mapping of a ring, its data twice in a row. Movable.
class Ring {
 public:
  /// Maps the ring that `launch` describes out of the channel's descriptor. kIo when the kernel refuses.
  static event::Result<Ring> map(int channel, const wire::Launch& launch) {
    return map(channel, launch.ring_offset, launch.ring_bytes);
  }
  static event::Result<Ring> map(int channel, std::uint64_t offset, std::uint64_t bytes);
  Ring(Ring&& other) noexcept;
  Ring& operator=(Ring&&) = delete;
  ~Ring();

  wire::RingControl& control() { return *control_; }
  std::byte* at(std::uint64_t position) { return data_ + (position & (bytes_ - 1)); }
  std::uint64_t bytes() const { return bytes_; }

 private:
  Ring(wire::RingControl* control, std::byte* data, std::uint64_t bytes)
      : control_(control), data_(data), bytes_(bytes) {}

  wire::RingControl* control_;
  std::byte* data_;
  std::uint64_t bytes_;
};

/// Consumes what a recorded process appends. One thread.
class RingReader {
 public:
  explicit RingReader(Ring ring) : ring_(std::move(ring)) {}

  /// The records that are there, in order; empty: none. Nothing is checked: a guest can write the ring. Valid
  /// until consume().
  std::span<const std::byte> available();
  /// Gives the room of the first `bytes` of available() back to the writer.
  void consume(std::size_t bytes);
  /// Tells the writer that it may change the file of this capture, and of all before.
  void note_capture_read(std::uint32_t number);

 private:
  Ring ring_;
};

/// Appends what a replayed process consumes. One thread.
class RingWriter {
 public:
  explicit RingWriter(Ring ring) : ring_(std::move(ring)) {}

  /// True when a record of `bytes` fits now.
  bool fits(std::size_t bytes);
  /// Appends a record that fits. The reader sees it soon: when more has followed, when nothing more fits, or
  /// with the next call of one of the functions below.
  void append(std::span<const std::byte> record);
  /// To be called when no record will be appended for a while.
  void wake_reader();
  /// Begins anew; needs that nobody else uses the ring.
  void reset();
  /// Nothing will follow.
  void end();
  /// Sleeps until the reader has made room, or a nap.
  void nap();

  std::uint64_t written() const { return written_; }
  /// How far the reader has come.
  std::uint64_t read();

 private:
  void publish();

  Ring ring_;
  std::uint64_t written_ = 0;
  std::uint64_t published_ = 0;   ///< what the reader knows of it
  std::uint64_t known_read_ = 0;  ///< where the reader was last seen
};

}  // namespace detrec::server
