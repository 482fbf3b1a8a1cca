// Follows which descriptor of which process stood for what, from calls and their results. For people:
// close-on- exec and descriptors that travel through sockets are not followed. Internal to storage.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "storage/trace_info.h"
#include "trace/event/event_view.h"

namespace detrec::storage {

/// A row of the table `descriptor`: `fd` of `process` was `path` behind `first` up to and with `last`.
struct DescriptorSpan {
  std::int64_t process = 0;
  std::int64_t fd = 0;
  std::string path;
  EventNumber first;
  EventNumber last;  ///< 0: to the end
};

class DescriptorTable {
 public:
  /// `emit` takes spans when they end, and all others in finish().
  explicit DescriptorTable(std::function<Status(const DescriptorSpan&)> emit) : emit_(std::move(emit)) {}

  /// A process begins, with copies of what `parent` (0: nobody) has open.
  Status begin_process(std::int64_t process, std::int64_t parent, EventNumber event);
  Status end_process(std::int64_t process, EventNumber event);
  /// A call of a process has ended.
  Status add(std::int64_t process, const event::SyscallView& call, EventNumber event);
  Status finish();

 private:
  struct Open {
    std::string path;
    EventNumber since;
  };
  using Descriptors = std::map<std::int64_t, Open>;

  Status close(std::int64_t process, Descriptors& open, std::int64_t first, std::int64_t last,
               EventNumber event);
  Status put(std::int64_t process, std::int64_t fd, std::string path, EventNumber event);
  Status copy(std::int64_t process, std::uint64_t from, std::int64_t to, EventNumber event);

  std::function<Status(const DescriptorSpan&)> emit_;
  std::map<std::int64_t, Descriptors> processes_;
};

}  // namespace detrec::storage
