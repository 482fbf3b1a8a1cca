#include "server/channel/ring.h"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

namespace detrec::server {
namespace {

std::uint64_t load(std::uint64_t& word) { return std::atomic_ref(word).load(std::memory_order_acquire); }
void store(std::uint64_t& word, std::uint64_t value) {
  std::atomic_ref(word).store(value, std::memory_order_release);
}

/// A reader that has run dry is woken when so much is there for it, or nothing more is coming at once: not
/// for every record.
constexpr std::uint64_t kWorthWaking = 64 * 1024;

/// The other processor has to fetch the control words anew each time they change.
constexpr std::uint64_t kWorthPublishing = 4096;

void wake(std::uint32_t& waits) {
  if (std::atomic_ref(waits).load(std::memory_order_relaxed) == 0) return;
  if (std::atomic_ref(waits).exchange(0) != 0) syscall(SYS_futex, &waits, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

}  // namespace

event::Result<Ring> Ring::map(int channel, std::uint64_t offset, std::uint64_t bytes) {
  const std::uint64_t all = wire::kChannelPage + 2 * bytes;
  const auto error = [] {
    return event::Error{event::ErrorCode::kIo, std::strerror(errno), "mapping the ring"};
  };
  // Reserved in one piece first, so that the second view has its place.
  void* place = mmap(nullptr, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED) return error();
  auto* base = static_cast<std::byte*>(place);
  const auto map_at = [&](std::byte* at, std::uint64_t size, std::uint64_t from) {
    return mmap(at, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, channel,
                static_cast<off_t>(from)) != MAP_FAILED;
  };
  std::byte* data = base + wire::kChannelPage;
  if (!map_at(base, wire::kChannelPage + bytes, offset) ||
      !map_at(data + bytes, bytes, offset + wire::kChannelPage)) {
    const auto failure = error();
    munmap(place, all);
    return failure;
  }
  return Ring(reinterpret_cast<wire::RingControl*>(base), data, bytes);
}

Ring::Ring(Ring&& other) noexcept
    : control_(std::exchange(other.control_, nullptr)), data_(other.data_), bytes_(other.bytes_) {}

Ring::~Ring() {
  if (control_ != nullptr) munmap(control_, wire::kChannelPage + 2 * bytes_);
}

std::span<const std::byte> RingReader::available() {
  const std::uint64_t read = load(ring_.control().read), written = load(ring_.control().written);
  const std::uint64_t size = written - read;
  // More than the ring holds is nonsense that a guest has written.
  return {ring_.at(read), static_cast<std::size_t>(size <= ring_.bytes() ? size : 0)};
}

void RingReader::consume(std::size_t bytes) {
  wire::RingControl& control = ring_.control();
  store(control.read, load(control.read) + bytes);
  wake(control.writer_waits);
}

void RingReader::note_capture_read(std::uint32_t number) {
  std::uint32_t& word = ring_.control().captures_read;
  std::atomic_ref(word).store(number);
  syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

bool RingWriter::fits(std::size_t bytes) {
  if (ring_.bytes() - (written_ - known_read_) >= bytes) return true;
  known_read_ = read();
  if (ring_.bytes() - (written_ - known_read_) >= bytes) return true;
  publish();  // it is the reader that is to make room
  return false;
}

void RingWriter::append(std::span<const std::byte> record) {
  std::memcpy(ring_.at(written_), record.data(), record.size());
  written_ += record.size();
  if (written_ - published_ >= kWorthPublishing) publish();
}

void RingWriter::publish() {
  if (published_ == written_) return;
  wire::RingControl& control = ring_.control();
  store(control.written, written_);
  published_ = written_;
  if (std::atomic_ref(control.reader_waits).load(std::memory_order_relaxed) != 0 &&
      written_ - read() >= kWorthWaking)
    wake(control.reader_waits);
}

void RingWriter::wake_reader() {
  publish();
  wake(ring_.control().reader_waits);
}

void RingWriter::reset() {
  ring_.control() = wire::RingControl{};
  written_ = published_ = known_read_ = 0;
}

void RingWriter::end() {
  publish();
  wire::RingControl& control = ring_.control();
  std::atomic_ref(control.ended).store(1, std::memory_order_release);
  wake(control.reader_waits);
}

void RingWriter::nap() {
  wake_reader();
  std::uint32_t& waits = ring_.control().writer_waits;
  const timespec patience = {0, static_cast<long>(wire::kNapNs)};
  std::atomic_ref(waits).store(1);
  syscall(SYS_futex, &waits, FUTEX_WAIT, 1, &patience, nullptr, 0);
  std::atomic_ref(waits).store(0);
}

std::uint64_t RingWriter::read() { return load(ring_.control().read); }

}  // namespace detrec::server
