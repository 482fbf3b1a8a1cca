// A recorded run as what the gdb stub debugs.
//
// Moving happens in a thread of its own, so that the event loop can hear an interrupt meanwhile; everything
// else is answered at once.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "gdbstub/net/asio.h"
#include "gdbstub/registers/layout.h"
#include "gdbstub/target.h"
#include "server/session/captured_files.h"
#include "server/session/diversion.h"
#include "server/session/timeline.h"
#include "trace/wire/launch.h"

// After the macro that gdbstub/net/asio.h sets.
#include <asio/io_context.hpp>

namespace detrec::server {

class ReplayTarget : public gdbstub::Target {
 public:
  struct Reports {
    /// Lines about a replay that differs from its recording: where, and the engine's message.
    std::function<std::string(const wire::Divergence&, std::string_view message)> describe_divergence;
    /// For the user, where the protocol has no way.
    std::function<void(const std::string& line)> warn;
  };

  /// `timeline` stands before the first instruction.
  ReplayTarget(asio::io_context& io, storage::TraceReader& reader, std::unique_ptr<Timeline> timeline,
               Reports reports);
  ~ReplayTarget() override;

  void set_observer(gdbstub::TargetObserver* observer) override { observer_ = observer; }
  gdbstub::VectorLevel vector_level() const override;
  std::vector<gdbstub::ThreadInfo> threads() const override;
  gdbstub::ThreadRef current_thread() const override;
  gdbstub::Result<gdbstub::ProcessInfo> process_info(gdbstub::ProcessId process) override;
  gdbstub::Result<std::vector<std::uint8_t>> auxv(gdbstub::ProcessId process) override;
  gdbstub::FileAccess& files() override { return files_; }
  gdbstub::Result<gdbstub::Registers> read_registers(gdbstub::ThreadRef thread) override;
  gdbstub::Result<std::size_t> read_memory(gdbstub::ProcessId process, gdbstub::Address address,
                                           std::span<std::uint8_t> out) override;
  gdbstub::Status write_registers(gdbstub::ThreadRef thread, const gdbstub::Registers& registers) override;
  gdbstub::Status write_memory(gdbstub::ProcessId process, gdbstub::Address address,
                               std::span<const std::uint8_t> bytes) override;
  gdbstub::Result<std::vector<std::uint8_t>> read_siginfo(gdbstub::ThreadRef thread) override;
  gdbstub::Status write_siginfo(gdbstub::ThreadRef thread, std::span<const std::uint8_t> bytes) override;
  gdbstub::Status resume(const gdbstub::ResumeRequest& request) override;
  void interrupt() override { timeline_->interrupt(); }
  gdbstub::Status restart() override;
  void client_gone() override;
  void monitor(const std::string& command, std::shared_ptr<gdbstub::MonitorReply> reply) override;

 private:
  using Move = std::function<event::Result<Standstill>()>;
  using Job = std::function<std::function<void()>()>;
  void work(Job job);
  void perform(Move move, bool diverted = false);
  void forget_changes();
  std::int32_t signal_told(Standstill::Reason reason) const;
  void report(const event::Result<Standstill>& result);
  std::string divergence_report();
  event::Result<Standstill> move(const gdbstub::ResumeRequest& request);
  event::Result<Standstill> move_diverted(const gdbstub::ResumeRequest& request);
  bool skips_own_trap(const gdbstub::Registers& before, const gdbstub::Registers& after);
  Diversion::Reports diversion_reports();
  bool counts(const gdbstub::ResumeRequest& request, const wire::DebugHit& hit);
  std::uint32_t thread_number(gdbstub::ThreadRef thread) const;
  bool stops(const gdbstub::ResumeRequest& request, const Standstill& standstill);
  std::string executable_path(const std::vector<gdbstub::Mapping>& mappings);
  void take_breakpoints(const gdbstub::BreakpointSet& set);
  std::string when() const;
  void report_seek(const wire::DebugPosition& wanted, const Standstill& standstill,
                   gdbstub::MonitorReply& reply);
  void seek(const std::string& to, std::shared_ptr<gdbstub::MonitorReply> reply);
  void end_diversion(gdbstub::MonitorReply& reply);
  void keep_checkpoint(std::shared_ptr<gdbstub::MonitorReply> reply);

  asio::io_context& io_;
  std::unique_ptr<Timeline> timeline_;
  Diversion diversion_;
  Diversion::Points points_;
  bool moving_ = false;         ///< until the stop, or the answer of a monitor command, is reported
  bool client_gone_ = false;    ///< while it moved
  bool told_diverted_ = false;  ///< the client's last stop is, or will be, one of a diversion
  CapturedFiles files_;
  gdbstub::registers::Layout layout_;
  Reports reports_;
  gdbstub::TargetObserver* observer_ = nullptr;
  gdbstub::ResumeRequest request_;
  std::thread mover_;
};

}  // namespace detrec::server
