// What the stub debugs. A replay session implements this; the tests have a small one in tests/gdb/toy.
//
// Everything happens in one thread, that of the event loop. A Target either stands still or runs. While it
// stands still every function may be called and answers at once from the state of the present position.
// resume(), restart() and a monitor command return at once and go on in the loop; until the Target has
// reported back through its TargetObserver, respectively the MonitorReply, only interrupt() may be called.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gdbstub/breakpoint.h"
#include "gdbstub/file_access.h"
#include "gdbstub/ids.h"
#include "gdbstub/process_info.h"
#include "gdbstub/registers.h"
#include "gdbstub/result.h"
#include "gdbstub/stop_event.h"

namespace detrec::gdbstub {

/// Implemented by the stub. May be called from within resume() and restart(), too.
class TargetObserver {
 public:
  virtual ~TargetObserver() = default;
  /// The Target stands still. Exactly once for each resume() and restart() that returned no error.
  virtual void on_stop(const StopEvent& event) = 0;
  /// Text for the debugger's console, while the Target runs (a divergence, what the guest wrote).
  virtual void on_output(std::string_view text) = 0;
  /// The Target stands elsewhere than its last stop said, after client_gone(): the next client is told of no
  /// more than where that is.
  virtual void on_moved() = 0;
};

/// Where the output of a monitor command goes. Outlives the connection: when the client has gone, what is
/// written goes nowhere.
class MonitorReply {
 public:
  virtual ~MonitorReply() = default;
  /// One line, without its newline.
  virtual void line(std::string_view text) = 0;
  /// Ends the command; exactly once. An error's message is shown to the user.
  virtual void finish(Status status) = 0;
};

enum class Direction : std::uint8_t { kForward, kBackward };

enum class Motion : std::uint8_t {
  kContinue,  ///< until something stops it
  kStep,      ///< until `thread` has executed (or, backward, un-executed) one instruction
  kStepRange  ///< until the pc of `thread` leaves `range`; only forward
};

/// How a Target is to move on. Breakpoints, watchpoints and signals not in `pass_signals` stop every motion.
/// The breakpoint at the pc from which a motion starts does not stop it.
struct ResumeRequest {
  Direction direction = Direction::kForward;
  Motion motion = Motion::kContinue;
  AddressRange range = {};
  std::optional<ThreadRef> thread =
      {};                         ///< who steps; nothing: whoever comes next. No meaning for kContinue.
  bool only_this_thread = false;  ///< scheduler-locking. A recording's schedule is fixed: it may refuse.
  std::optional<Signal> signal =
      {};                        ///< wanted delivered, instead of or besides the recorded ones; it may refuse
  BreakpointChange change = {};  ///< since the last resume
  const BreakpointSet* breakpoints = nullptr;  ///< all of them; valid until the stop has been reported
  std::set<Signal> pass_signals = {};          ///< need not stop: gdb would pass them on silently
};

class Target {
 public:
  virtual ~Target() = default;

  /// Who hears of stops; set before the first resume, null when the stub goes away.
  virtual void set_observer(TargetObserver* observer) = 0;

  // Processes and threads

  virtual VectorLevel vector_level() const = 0;
  /// All threads alive at this position, those of one process together; the first one is never missing.
  virtual std::vector<ThreadInfo> threads() const = 0;
  /// The thread of the last stop.
  virtual ThreadRef current_thread() const = 0;
  /// ESRCH if there is no such process.
  virtual Result<ProcessInfo> process_info(ProcessId process) = 0;
  /// The bytes of the auxiliary vector, ended by AT_NULL.
  virtual Result<std::vector<std::uint8_t>> auxv(ProcessId process) = 0;
  /// Shared objects. The default walks the dynamic linker's list in memory (documents/link_maps.h).
  virtual Result<LibraryList> libraries(ProcessId process);
  virtual FileAccess& files() = 0;

  // Registers and memory

  /// ESRCH if there is no such thread.
  virtual Result<Registers> read_registers(ThreadRef thread) = 0;
  /// A replay begins a diversion with this; EROFS with a reason if it cannot.
  virtual Status write_registers(ThreadRef thread, const Registers& registers);
  /// Fills the beginning of `out`; returns how many bytes could be read, 1..out.size(). EFAULT if none could.
  virtual Result<std::size_t> read_memory(ProcessId process, Address address,
                                          std::span<std::uint8_t> out) = 0;
  /// Writes all or nothing. EFAULT, or EROFS as above.
  virtual Status write_memory(ProcessId process, Address address, std::span<const std::uint8_t> bytes);
  /// The siginfo_t (128 bytes) of the signal the thread stopped for. ENODATA if it did not stop for one.
  virtual Result<std::vector<std::uint8_t>> read_siginfo(ThreadRef thread);
  virtual Status write_siginfo(ThreadRef thread, std::span<const std::uint8_t> bytes);

  // Running

  /// May this breakpoint be set? Asked once for each Z packet, so it must be cheap. An address that is not
  /// mapped now may be mapped at another position, so a time-travelling Target accepts it; it must never
  /// crash on one.
  virtual Status check_breakpoint(const BreakpointSpec& spec);
  /// Starts to move and returns. After an error the Target stands where it stood, `change` has been taken
  /// over all the same, and on_stop is not called.
  virtual Status resume(const ResumeRequest& request) = 0;
  /// Asks a running Target to stop soon, with Interrupted unless something else stops it first. Allowed at
  /// any time, any number of times; without effect on a Target that stands still.
  virtual void interrupt() = 0;
  /// Goes to the first position of the recording; reports a stop (StepDone) there. gdb waits a few seconds
  /// only.
  virtual Status restart();

  /// The client has detached, killed the process or vanished, and with it goes what it has changed. While the
  /// Target runs, it does so when it stands still.
  virtual void client_gone();

  /// Executes a `monitor` command. The reply may be finished at once or later; interrupt() asks for the
  /// latter to be soon. Afterwards the Target may stand somewhere else.
  virtual void monitor(const std::string& command, std::shared_ptr<MonitorReply> reply);
};

}  // namespace detrec::gdbstub
