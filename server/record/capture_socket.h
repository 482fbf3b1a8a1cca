// Receives the descriptors of files that a recorded process has mapped (trace/wire/capture.h).
#pragma once

#include <optional>

#include "storage/capture.h"

namespace detrec::server {

/// A file to capture. Owns the descriptor.
class CaptureRequest {
 public:
  CaptureRequest(storage::CaptureNumber number_in, storage::CaptureInfo info_in, int descriptor,
                 int answer_to)
      : number(number_in), info(std::move(info_in)), descriptor_(descriptor), answer_to_(answer_to) {}
  CaptureRequest(CaptureRequest&& other) noexcept;
  CaptureRequest& operator=(CaptureRequest&&) = delete;
  ~CaptureRequest();

  int descriptor() const { return descriptor_; }
  /// Tells the sender, if it wants to know, that the content has been read.
  void answer();

  storage::CaptureNumber number;
  storage::CaptureInfo info;

 private:
  int descriptor_;
  int answer_to_;  ///< -1: nobody waits
};

class CaptureSocket {
 public:
  /// Takes over `socket` (SOCK_SEQPACKET).
  explicit CaptureSocket(int socket);
  CaptureSocket(const CaptureSocket&) = delete;
  CaptureSocket& operator=(const CaptureSocket&) = delete;
  ~CaptureSocket();

  /// The next request; nothing when none is there. Malformed messages are skipped: a guest could send them.
  std::optional<CaptureRequest> take();
  /// Waits for a request or for wake(), at most so long.
  void wait(int milliseconds);
  /// Ends a wait(), or keeps the next from waiting. From any thread.
  void wake();

 private:
  int socket_;
  int wakes_;  ///< an eventfd
  bool hung_up_ = false;
};

}  // namespace detrec::server
