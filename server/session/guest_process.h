// One process of a debugged replay: runs, stands still and answers (trace/wire/debug.h), fed with events.
//
// Functions block until the process has answered. An error means that the process is of no use any more.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "server/channel/ring.h"
#include "server/replay/content.h"
#include "server/session/channel_memory.h"
#include "storage/trace_reader.h"

namespace detrec::server {

/// Where a process stands.
struct Spot {
  wire::DebugPosition position{};
  std::uint64_t total_ticks = 0;  ///< of all threads
};

/// An image's start, as met on the way: what the debugger needs to find the program's own tables.
struct ImageStart {
  std::uint64_t stack_pointer = 0;
  std::string path;
  std::vector<std::string> arguments, environment;
};

/// What all processes of a session share.
struct SessionContext {
  const ReplayChannel& channel;
  storage::TraceReader& reader;
  const Content& content;
  std::map<std::uint64_t, ImageStart> images;  ///< by the number of the kStart event; filled while feeding
  /// When events were recorded, by number: each entry is true up to the next one. Filled while feeding.
  std::map<std::uint64_t, std::uint64_t> times;
  std::atomic<std::uint32_t*> interruptible = nullptr;  ///< DebugMailbox::interrupt of the process that runs
  std::atomic<bool> interrupted = false;
};

class GuestProcess {
 public:
  /// Before the engine is started: puts into its mailbox that an answer is waited for.
  static event::Status prepare_first(const ReplayChannel& channel);
  /// Takes over process `pid` in `slot`, standing at `spot`; slot 0 of a new engine gets there first.
  static event::Result<std::unique_ptr<GuestProcess>> attach(SessionContext& context, std::uint32_t slot,
                                                             pid_t pid, const Spot& spot);
  /// Kills the process.
  ~GuestProcess();
  GuestProcess(const GuestProcess&) = delete;
  GuestProcess& operator=(const GuestProcess&) = delete;

  std::uint32_t slot() const { return slot_; }
  const Spot& spot() const { return spot_; }
  /// Of the last stop. A checkpoint that has not run yet has its origin's.
  const wire::DebugStop& last_stop() const { return last_stop_; }
  std::string message() const;

  /// Waits until a new engine stands before its first instruction.
  event::Status begin();
  event::Result<wire::DebugStop> run(const wire::DebugRun& run);
  /// How many bytes could be read, from the beginning.
  event::Result<std::size_t> read_memory(std::uint64_t address, std::span<std::uint8_t> out);
  /// kNotFound: no such thread.
  event::Result<wire::DebugRegisters> read_registers(std::uint32_t thread);
  /// Of a copy that is to become a diversion. kNotFound: there is no such memory.
  event::Status write_memory(std::uint64_t address, std::span<const std::uint8_t> bytes);
  event::Status write_registers(std::uint32_t thread, const wire::DebugRegisters& registers);
  /// What a stop of kOutput shows.
  std::string output() const;
  /// What led to the last stop of a run with kRunNotePrevious, the oldest first.
  event::Result<std::vector<wire::DebugTrailEntry>> trail();
  /// The vector registers of a trail's entry.
  event::Status read_vectors(std::uint64_t number, wire::DebugRegisters& into);
  event::Result<std::vector<wire::DebugThread>> threads();
  struct Mapping {
    wire::DebugMapping row;
    std::string name;
  };
  event::Result<std::vector<Mapping>> mappings();
  event::Status set_breakpoints(std::span<const std::uint64_t> pcs);
  event::Status set_watchpoints(std::span<const wire::DebugWatch> watches);
  /// From now on it gets no events: it is a diversion.
  void leave_recording() { all_fed_ = true; }
  /// Splits off a copy into `slot`.
  event::Result<std::unique_ptr<GuestProcess>> split(std::uint32_t slot);

 private:
  GuestProcess(SessionContext& context, std::uint32_t slot, pid_t pid, Ring ring,
               wire::DebugMailbox* mailbox);
  event::Result<std::int64_t> ask(wire::DebugCommand command, std::uint64_t arg0 = 0, std::uint64_t arg1 = 0);
  event::Status await_answer();
  void reset();
  void take_stop();
  event::Status feed();
  void note_time(const event::DecodedRecord& record);
  bool alive();

  SessionContext& context_;
  std::uint32_t slot_;
  pid_t pid_;
  RingWriter ring_;
  wire::DebugMailbox* mailbox_;
  Spot spot_;
  wire::DebugStop last_stop_{};
  std::uint64_t next_event_ = 1;  ///< the first that the process has not been fed
  std::optional<storage::EventCursor> cursor_;
  std::vector<std::byte> waiting_;  ///< a record that did not fit
  bool all_fed_ = false;
};

}  // namespace detrec::server
