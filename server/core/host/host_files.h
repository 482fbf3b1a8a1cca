// Descriptors and files on behalf of the core: unsupported-call report, preemption record, summary, port
// range.
#pragma once

#include <optional>
#include <string>

#include "server/core/pools/pools.h"
#include "server/core/replay/preemption_record.h"
#include "server/core/report/summary.h"

namespace detrec::core {

/// UNSUP-2, UNSUP-3: appends each name as one line to a duplicate of a descriptor.
class ReportDescriptor {
 public:
  /// Duplicates `fd`: close-on-exec, at or above the original number. Failure is logged and disables the
  /// report.
  ReportDescriptor(int fd, LogSink* log);
  ~ReportDescriptor();
  ReportDescriptor(const ReportDescriptor&) = delete;
  ReportDescriptor& operator=(const ReportDescriptor&) = delete;
  int fd() const { return fd_; }
  /// A write error is logged and otherwise ignored.
  void report(const std::string& name);

 private:
  int fd_ = -1;
  LogSink* log_;
};

/// Writes a preemption record to a file.
class FileDestination : public RecordDestination {
 public:
  explicit FileDestination(std::string path) : path_(std::move(path)) {}
  std::string name() const override { return path_; }
  bool write(const std::string& text, std::string& error) override;

 private:
  std::string path_;
};

/// The kernel's local port range, /proc/sys/net/ipv4/ip_local_port_range (ip(7)); the default range when
/// unreadable.
PortRange kernel_port_range();

/// Writes all of `text`, also to a non-blocking descriptor that is full for a while (SUM-14).
bool write_fully(int fd, const std::string& text);

struct SummaryOutput {
  std::optional<std::string> json_path;
  bool full_text = false;  ///< with a banner, to `text_fd`; otherwise the comparison view goes to the log
  int text_fd = 2;
};
/// The end of a run (SUM-14): JSON file if one is named, then text or log. The error of a write, if any.
std::optional<std::string> write_summary(const RunSummary& summary, const SummaryOutput& output,
                                         LogSink& log);

}  // namespace detrec::core
