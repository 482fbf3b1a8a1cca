#include "frontend/launch/descriptor.h"

#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>

namespace detrec::frontend {

Descriptor move_to_high_number(Descriptor descriptor) {
  constexpr rlim_t kHighest = 1024;
  rlimit limit{kHighest, kHighest};
  getrlimit(RLIMIT_NOFILE, &limit);
  for (int number = static_cast<int>(std::min(limit.rlim_cur, kHighest)) - 1; number >= 0; --number) {
    if (fcntl(number, F_GETFD) != -1 || errno != EBADF) continue;
    return Descriptor(fcntl(descriptor.number(), F_DUPFD_CLOEXEC, number));
  }
  errno = EMFILE;
  return Descriptor();
}

}  // namespace detrec::frontend
