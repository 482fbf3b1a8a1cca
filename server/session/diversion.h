// What gdb changes: a copy of the present process lives on its own, the recording stays as it is.
//
// gdb does not say why it writes. A call of a function is a few registers and bytes below the stack pointer,
// a run to a breakpoint at the return address, and the registers put back: then it is over, and gdb sees the
// recording again. Its copy is kept until one moves: gdb has arguments allocated by calls, and looks at
// results afterwards. Whatever else is changed lasts until the diversion is dropped: it is *open*.
//
// Functions block, as those of Timeline.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "gdbstub/registers.h"
#include "server/session/call_results.h"
#include "server/session/timeline.h"

namespace detrec::server {

class Diversion {
 public:
  struct Reports {
    std::function<void(const std::string& text)> output;  ///< of the diverted program
    std::function<void(const std::string& line)> warn;    ///< for the user
  };
  struct Points {
    std::vector<std::uint64_t> breakpoints;
    std::vector<wire::DebugWatch> watches;
  };
  struct Motion {
    bool steps = false;
    std::uint32_t thread = 0;                      ///< number of the one that steps; 0: whoever ran last
    std::uint64_t range_begin = 0, range_end = 0;  ///< with `steps`; not empty: until the pc leaves this
    std::uint32_t signal = 0;                      ///< delivered first; 0: none
    std::uint64_t quiet_signals = 0;               ///< bit n - 1: signal n does not stop it
  };

  Diversion(Timeline& timeline, Reports reports) : timeline_(timeline), reports_(std::move(reports)) {}

  /// gdb looks at it, and not at the recording.
  bool is_seen() const;
  /// Ends it; everything is as recorded again.
  void drop();
  /// What the user has to know of it, once.
  void announce();

  // While the recording stands still

  /// Of where gdb looks, whichever that is.
  const wire::DebugStop& last_stop() const { return is_seen() && ran_ ? stop_ : timeline_.last_stop(); }
  event::Result<std::size_t> read_memory(std::uint64_t address, std::span<std::uint8_t> out);
  event::Result<gdbstub::Registers> read_registers(std::uint32_t thread);
  event::Result<std::vector<GuestProcess::Mapping>> mappings();
  /// kNotFound: some of it is not mapped, and nothing was written.
  event::Status write_memory(std::uint64_t address, std::span<const std::uint8_t> bytes);
  event::Status write_registers(std::uint32_t thread, const gdbstub::Registers& registers);

  /// What gdb was told last of signals, and sends along with its next motion unless `handle` says otherwise.
  struct Held {
    std::int32_t signal = 0;  ///< 0: none
    bool stale = false;       ///< one is no more where it arrived
  };
  const Held& held_signal() const { return held_; }
  /// gdb is told of a stop for `signal`; 0: for something else.
  void hold_signal(std::int32_t signal);

  /// Only while it is seen.
  event::Result<Standstill> run(const Motion& motion, const Points& points);

 private:
  struct ThreadRegisters {
    wire::DebugRegisters stored{};  ///< as the copy has them, or (before it exists) as recorded
    gdbstub::Registers recorded, now;
    bool written = false;        ///< `now` is not in the copy yet
    bool wider_written = false;  ///< gdb has written what it does not put back after a call
    bool changed() const;
  };

  struct Call {
    std::uint64_t return_address, first_argument;
    Held held;  ///< by gdb, which keeps it for after the call
  };
  /// What the last call has returned, if it was one of malloc(bytes).
  struct Allocated {
    std::uint64_t address = 0, bytes = 0;
  };

  void announce_end();
  event::Result<ThreadRegisters*> registers_of(std::uint32_t thread);
  event::Status ensure_copy();
  void forget_copy();
  bool is_scratch(std::uint64_t address, std::uint64_t size) const;
  bool is_scratch_of_any(std::uint64_t address, std::uint64_t size);
  bool reads_copy(std::uint64_t address, std::uint64_t size);
  void note_call(const Points& points);
  bool returns_from_call(const wire::DebugStop& stop);
  bool is_for_call(std::uint64_t address, std::uint64_t size);
  bool has_already(std::uint64_t address, std::span<const std::uint8_t> bytes);
  event::Status send(const Points& points);
  event::Result<wire::DebugStop> run_copy(const wire::DebugRun& run);
  event::Status take_stop(const wire::DebugStop& stop);

  Timeline& timeline_;
  Reports reports_;
  std::unique_ptr<GuestProcess> copy_;                  ///< nullptr: nothing but registers has been changed
  std::map<std::uint32_t, ThreadRegisters> registers_;  ///< of threads that gdb has written or that have run
  std::uint32_t runner_ = 0;                            ///< who ran or was written last; 0: nobody yet
  wire::DebugStop stop_{};                              ///< of the copy, when it has run
  Held held_;
  bool returned_ = false;      ///< the last motion was the end of a call
  std::uint64_t wall_ns_ = 0;  ///< of the copy's origin
  bool ran_ = false;
  bool open_ = false;
  bool announced_ = false;
  std::vector<Call> calls_;  ///< those that are not over, the innermost last
  Allocated allocated_;
  CallResults results_;
  std::set<std::string> noticed_;  ///< what the user has been told, in the whole session
};

}  // namespace detrec::server
