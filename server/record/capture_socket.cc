#include "server/record/capture_socket.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>

#include "trace/wire/capture.h"

namespace detrec::server {

CaptureRequest::CaptureRequest(CaptureRequest&& other) noexcept
    : number(other.number),
      info(std::move(other.info)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      answer_to_(std::exchange(other.answer_to_, -1)) {}

CaptureRequest::~CaptureRequest() {
  answer();
  if (descriptor_ >= 0) close(descriptor_);
}

void CaptureRequest::answer() {
  const int to = std::exchange(answer_to_, -1);
  const char done = 1;
  if (to >= 0) send(to, &done, 1, MSG_NOSIGNAL);
}

// Without an eventfd nobody is woken before the time is up.
CaptureSocket::CaptureSocket(int socket) : socket_(socket), wakes_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

CaptureSocket::~CaptureSocket() {
  if (socket_ >= 0) close(socket_);
  if (wakes_ >= 0) close(wakes_);
}

std::optional<CaptureRequest> CaptureSocket::take() {
  constexpr std::size_t kHead = offsetof(wire::CaptureMessage, path);
  for (;;) {
    wire::CaptureMessage message = {};
    iovec vector = {&message, sizeof message};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
    msghdr header = {};
    header.msg_iov = &vector;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof control;
    const ssize_t size = recvmsg(socket_, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (size <= 0) {
      hung_up_ = hung_up_ || size == 0;
      return std::nullopt;
    }
    int descriptor = -1;
    const cmsghdr* rights = CMSG_FIRSTHDR(&header);
    if (rights != nullptr && rights->cmsg_level == SOL_SOCKET && rights->cmsg_type == SCM_RIGHTS)
      std::memcpy(&descriptor, CMSG_DATA(rights), sizeof descriptor);
    if (static_cast<std::size_t>(size) <= kHead) {
      if (descriptor >= 0) close(descriptor);
      continue;
    }
    // Without a descriptor (this process may have no more) the capture fails, and the recording with it.
    storage::CaptureInfo info;
    info.path.assign(message.path, strnlen(message.path, sizeof message.path));
    info.device = message.device;
    info.inode = message.inode;
    info.mtime_ns = message.mtime_ns;
    info.size = message.size;
    return CaptureRequest({message.capture}, std::move(info), descriptor, message.answer != 0 ? socket_ : -1);
  }
}

void CaptureSocket::wait(int milliseconds) {
  pollfd wanted[] = {{hung_up_ ? -1 : socket_, POLLIN, 0}, {wakes_, POLLIN, 0}};
  poll(wanted, std::size(wanted), milliseconds);
}

void CaptureSocket::wake() { eventfd_write(wakes_, 1); }

}  // namespace detrec::server
