#include "server/core/host/host_files.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

namespace detrec::core {

ReportDescriptor::ReportDescriptor(int fd, LogSink* log) : fd_(::fcntl(fd, F_DUPFD_CLOEXEC, fd)), log_(log) {
  if (fd_ < 0 && log_ != nullptr)
    log_->line(LogLevel::kWarning, fmt::format("unsupported-call report: {}", std::strerror(errno)));
}

ReportDescriptor::~ReportDescriptor() {
  if (fd_ >= 0) ::close(fd_);
}

void ReportDescriptor::report(const std::string& name) {
  if (fd_ < 0) return;
  if (!write_fully(fd_, name + "\n") && log_ != nullptr)
    log_->line(LogLevel::kWarning, fmt::format("unsupported-call report: {}", std::strerror(errno)));
}

bool FileDestination::write(const std::string& text, std::string& error) {
  const int fd = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) {
    error = fmt::format("{}: {}", path_, std::strerror(errno));
    return false;
  }
  bool good = write_fully(fd, text);
  good = ::close(fd) == 0 && good;
  if (!good) error = fmt::format("{}: {}", path_, std::strerror(errno));
  return good;
}

PortRange kernel_port_range() {
  std::ifstream file("/proc/sys/net/ipv4/ip_local_port_range");
  unsigned first = 0, last = 0;
  if (file >> first >> last && first <= last && last <= 65535)
    return {static_cast<std::uint16_t>(first), static_cast<std::uint16_t>(last)};
  return {};
}

bool write_fully(int fd, const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = ::write(fd, text.data() + done, text.size() - done);
    if (n > 0) {
      done += static_cast<std::size_t>(n);
    } else if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
      pollfd p{fd, POLLOUT, 0};
      ::poll(&p, 1, 1000);
    } else {
      return false;
    }
  }
  return true;
}

std::optional<std::string> write_summary(const RunSummary& summary, const SummaryOutput& output,
                                         LogSink& log) {
  std::optional<std::string> failed;
  if (output.json_path) {
    std::string error;
    if (!FileDestination(*output.json_path).write(summary.json(), error)) failed = error;
  }
  if (!output.full_text) {
    summary.log(log);
  } else if (!write_fully(output.text_fd, summary.full_text())) {
    failed = std::strerror(errno);
  }
  return failed;
}

}  // namespace detrec::core
