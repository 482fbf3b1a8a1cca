// A Target over a Recording: its program counter walks up and down real instructions, so that a real gdb can
// be put through everything. It moves in slices within an Asio loop, as a replay session does.
#pragma once

#include <chrono>
#include <memory>

#include "gdbstub/net/asio.h"
#include "gdbstub/registers/layout.h"
#include "gdbstub/target.h"
#include "tests/gdb/toy/local_files.h"
#include "tests/gdb/toy/recording.h"

namespace detrec::gdbstub::toy {

struct ToyOptions {
  VectorLevel vectors = VectorLevel::kAvx512;
  std::size_t slice = 500;             ///< instructions between two looks at the loop
  std::chrono::microseconds pause{0};  ///< between slices, to make a run long enough to interrupt
};

class ToyTarget : public Target {
 public:
  ToyTarget(asio::io_context& io, Recording recording, ToyOptions options);

  void set_observer(TargetObserver* observer) override { observer_ = observer; }
  VectorLevel vector_level() const override { return options_.vectors; }
  std::vector<ThreadInfo> threads() const override;
  ThreadRef current_thread() const override;
  Result<ProcessInfo> process_info(ProcessId process) override;
  Result<std::vector<std::uint8_t>> auxv(ProcessId process) override;
  FileAccess& files() override { return files_; }
  Result<Registers> read_registers(ThreadRef thread) override;
  Result<std::size_t> read_memory(ProcessId process, Address address, std::span<std::uint8_t> out) override;
  Result<std::vector<std::uint8_t>> read_siginfo(ThreadRef thread) override;
  Status check_breakpoint(const BreakpointSpec& spec) override;
  Status resume(const ResumeRequest& request) override;
  void interrupt() override { interrupted_ = true; }
  Status restart() override;
  void monitor(const std::string& command, std::shared_ptr<MonitorReply> reply) override;

  /// How often breakpoints were really added or removed: what a translator would have to work for.
  std::size_t breakpoint_changes() const { return breakpoint_changes_; }

 private:
  void schedule();
  void run_slice();
  /// One instruction in the direction of the motion; why it stops there, if it does.
  std::optional<StopReason> move_once();
  std::optional<StopReason> breakpoint_here();
  std::optional<StopReason> watch_hit(const Step& step) const;
  void step_forward();
  void step_backward();
  void apply(Address address, std::span<const std::uint8_t> bytes);
  void seek(std::size_t position);
  void report(const StopReason& reason);
  const Region* region_at(Address address) const;

  asio::io_context& io_;
  asio::steady_timer timer_;
  Recording recording_;
  ToyOptions options_;
  registers::Layout layout_;
  LocalFiles files_;
  TargetObserver* observer_ = nullptr;
  std::size_t position_ = 0;
  ResumeRequest motion_;
  bool interrupted_ = false;
  bool at_signal_ = false;
  std::size_t breakpoint_changes_ = 0;
};

}  // namespace detrec::gdbstub::toy
