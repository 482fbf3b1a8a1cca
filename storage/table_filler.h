// Fills the tables that are written while a run is recorded: processes, threads, images, mappings,
// timeslices, preemptions, signals, exits, output, what was not supported. Internal to storage.
#pragma once

#include <map>
#include <unordered_map>
#include <utility>

#include "storage/sqlite.h"
#include "trace/event/event_view.h"

namespace detrec::storage {

/// While recording, `output` takes no more than so many bytes; `detrec index` fills in the rest.
inline constexpr std::uint64_t kOutputBytesWhileRecording = 16u << 20;

/// True when a record leads to rows: the others (nearly all calls) need not be shown to a TableFiller.
bool has_rows(const event::EventView& record);

/// Rows of the table `output`, for calls whose data left the guest and for their kData records.
class OutputFiller {
 public:
  static Result<OutputFiller> create(sqlite::Database& database);
  Status add(const event::EventView& record, EventNumber number);
  std::uint64_t bytes() const { return bytes_; }

 private:
  Status add_range(EventNumber number, std::uint32_t thread, const event::RangeView& range);

  sqlite::Statement insert_;
  EventNumber event_;
  std::int64_t piece_ = 0;
  std::uint64_t bytes_ = 0;
};

class TableFiller {
 public:
  static Result<TableFiller> create(sqlite::Database& database);

  /// Needs records in their order.
  Status add(const event::EventView& record, EventNumber number, WallTime time);
  /// Writes what is counted in memory; to be called before each commit.
  Status write_counts();
  /// Ends the last timeslice and the threads that still run.
  Status finish(EventNumber last, WallTime time);
  /// Of all threads together, up to their last events that were shown.
  std::uint64_t ticks() const;
  /// All output is in the table.
  bool output_complete() const { return output_complete_; }

 private:
  struct ThreadState {
    std::int64_t process = 0;
    std::optional<std::int64_t> pid;
    std::uint64_t ticks = 0;
    bool ended = false;
  };
  struct Slice {
    std::uint32_t thread = 0;  ///< 0: none
    EventNumber first;
    std::uint64_t ticks = 0;
    WallTime time;
  };
  /// An execve that may still fail: then the same thread goes on.
  struct Exec {
    std::uint32_t thread = 0;  ///< 0: none
    EventNumber number;
    std::uint64_t pc = 0;
    std::int32_t status = 0;
  };
  struct Unsupported {
    EventNumber first;
    std::int64_t count = 0;
    std::int32_t error = 0;
  };

  Result<ThreadState*> thread_of(std::uint32_t number, EventNumber event);
  Result<std::int64_t> add_process(std::optional<std::int64_t> pid, std::optional<std::int64_t> parent,
                                   EventNumber event);
  Status end_slice(EventNumber last, std::uint64_t ticks, std::uint64_t pc, std::string_view reason,
                   WallTime time);
  Status add_start(const event::EventView& record, const event::StartView& start, EventNumber number);
  Status add_mapping(const event::EventView& record, const event::MappingView& mapping, EventNumber number);
  Status add_turn(const event::EventView& record, const wire::TurnBody& turn, EventNumber number,
                  WallTime time);
  Status add_thread(const wire::ThreadBody& body, std::uint32_t creator, EventNumber number);
  Status add_signal(const event::EventView& record, const wire::SignalBody& body, EventNumber number);
  Status add_exit(const event::EventView& record, const wire::ExitBody& body, EventNumber number,
                  WallTime time);
  Status end_process(std::int64_t process, const ThreadState* ender, EventNumber last, wire::ExitCause cause,
                     std::int32_t status);
  Status conclude_exec(std::uint32_t next_thread, WallTime time);
  Status add_call(const event::EventView& record, const event::SyscallView& call, EventNumber number);
  Status add_output(const event::EventView& record, EventNumber number);

  sqlite::Statement insert_process_, update_process_, end_process_, insert_thread_, update_thread_,
      end_thread_, insert_image_, insert_mapping_, insert_slice_, insert_preemption_, insert_signal_,
      insert_exit_, insert_unsupported_;
  std::optional<OutputFiller> output_;
  std::unordered_map<std::uint32_t, ThreadState> threads_;
  std::map<std::pair<std::int32_t, std::uint64_t>, Unsupported> unsupported_;
  Slice slice_;
  Exec exec_;
  std::int64_t processes_ = 0;
  bool output_complete_ = true;
  bool unsupported_changed_ = false;
};

}  // namespace detrec::storage
