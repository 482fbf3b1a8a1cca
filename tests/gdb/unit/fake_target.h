// A Target whose every answer a test sets, and a client that keeps what it is sent.
#pragma once

#include <gtest/gtest.h>

#include <cerrno>
#include <map>
#include <string>
#include <vector>

#include "gdbstub/packet/framer.h"
#include "gdbstub/packet/hex.h"
#include "gdbstub/session/session.h"
#include "gdbstub/target.h"

namespace detrec::gdbstub {

class FakeFiles : public FileAccess {
 public:
  std::map<std::string, std::string> content;
  int open_count = 0;

  Result<FileHandle> open(ProcessId, const std::string& path) override {
    if (!content.contains(path)) return Error{ENOENT, "no such file", path};
    ++open_count;
    paths_[++last_] = path;
    return FileHandle{last_};
  }
  Result<std::vector<std::uint8_t>> pread(FileHandle file, std::uint64_t offset, std::size_t count) override {
    const auto& text = content[paths_.at(file.value)];
    const auto part = offset < text.size() ? text.substr(offset, count) : std::string{};
    return std::vector<std::uint8_t>(part.begin(), part.end());
  }
  Result<FileStat> fstat(FileHandle file) override {
    FileStat stat;
    stat.mode = 0100644;
    stat.size = content[paths_.at(file.value)].size();
    return stat;
  }
  Status close(FileHandle) override {
    --open_count;
    return Done{};
  }
  Result<std::string> readlink(ProcessId, const std::string& path) override {
    return Error{EINVAL, "not a link", path};
  }

 private:
  std::map<int, std::string> paths_;
  int last_ = 0;
};

class FakeTarget : public Target {
 public:
  static constexpr ThreadRef kFirst{{100}, {100}};
  static constexpr ThreadRef kSecond{{100}, {101}};

  VectorLevel level = VectorLevel::kSse;
  std::vector<ThreadInfo> thread_list = {{kFirst, "first", 0}, {kSecond, "second", 3, "waits"}};
  ThreadRef current = kFirst;
  ProcessInfo info{{100}, {1}, "prog", {"prog", "a b"}, {"HOME=/"}, "/tmp", "/bin/prog", {}};
  std::map<ThreadRef, Registers> values = {{kFirst, {}}, {kSecond, {}}};
  Address memory_at{0x1000};
  std::vector<std::uint8_t> memory = std::vector<std::uint8_t>(0x1000);
  std::vector<std::uint8_t> siginfo;
  bool writable = true;
  Status breakpoint_answer = Done{};
  Status resume_answer = Done{};
  std::optional<StopReason> stops_at_once;
  FakeFiles fake_files;

  std::vector<ResumeRequest> requests;
  int interrupts = 0;
  int restarts = 0;
  int clients_gone = 0;
  std::vector<std::string> commands;
  std::shared_ptr<MonitorReply> reply;
  TargetObserver* observer = nullptr;

  void stop(const StopReason& reason, std::optional<ThreadRef> thread = {}) {
    current = thread.value_or(current);
    observer->on_stop({current, reason});
  }

  void set_observer(TargetObserver* who) override { observer = who; }
  VectorLevel vector_level() const override { return level; }
  std::vector<ThreadInfo> threads() const override { return thread_list; }
  ThreadRef current_thread() const override { return current; }
  Result<ProcessInfo> process_info(ProcessId process) override {
    if (process != info.id) return Error{ESRCH, "no such process"};
    return info;
  }
  Result<std::vector<std::uint8_t>> auxv(ProcessId) override { return std::vector<std::uint8_t>(16); }
  FileAccess& files() override { return fake_files; }
  Result<Registers> read_registers(ThreadRef thread) override {
    if (!values.contains(thread)) return Error{ESRCH, "no such thread"};
    return values[thread];
  }
  Status write_registers(ThreadRef thread, const Registers& registers) override {
    if (!writable) return Target::write_registers(thread, registers);
    values[thread] = registers;
    return Done{};
  }
  Result<std::size_t> read_memory(ProcessId, Address address, std::span<std::uint8_t> out) override {
    const auto offset = address.value - memory_at.value;
    if (address < memory_at || offset >= memory.size()) return Error{EFAULT, "not mapped"};
    const auto count = std::min<std::size_t>(out.size(), memory.size() - offset);
    std::copy_n(memory.begin() + static_cast<std::ptrdiff_t>(offset), count, out.begin());
    return count;
  }
  Status write_memory(ProcessId process, Address address, std::span<const std::uint8_t> bytes) override {
    if (!writable) return Target::write_memory(process, address, bytes);
    const auto offset = address.value - memory_at.value;
    if (address < memory_at || offset > memory.size() || bytes.size() > memory.size() - offset) {
      return Error{EFAULT, "not mapped"};
    }
    std::copy(bytes.begin(), bytes.end(), memory.begin() + static_cast<std::ptrdiff_t>(offset));
    return Done{};
  }
  Result<std::vector<std::uint8_t>> read_siginfo(ThreadRef thread) override {
    if (siginfo.empty()) return Target::read_siginfo(thread);
    return siginfo;
  }
  Status write_siginfo(ThreadRef, std::span<const std::uint8_t> bytes) override {
    siginfo.assign(bytes.begin(), bytes.end());
    return Done{};
  }
  Status check_breakpoint(const BreakpointSpec&) override { return breakpoint_answer; }
  Status resume(const ResumeRequest& request) override {
    requests.push_back(request);
    if (resume_answer && stops_at_once) stop(*stops_at_once);
    return resume_answer;
  }
  void interrupt() override { ++interrupts; }
  Status restart() override {
    ++restarts;
    return Done{};
  }
  void client_gone() override { ++clients_gone; }
  void monitor(const std::string& command, std::shared_ptr<MonitorReply> where) override {
    commands.push_back(command);
    reply = std::move(where);
  }
};

/// Keeps what is sent to it.
class FakeLink : public Link {
 public:
  std::string sent;
  bool closed = false;
  void send(std::string bytes) override { sent += bytes; }
  void close() override { closed = true; }
};

/// A session with a connected client, without acknowledgements.
struct Rig {
  FakeTarget target;
  Session session{target};
  std::shared_ptr<FakeLink> link;

  explicit Rig(std::string_view features = "multiprocess+;swbreak+;hwbreak+") { connect(features); }

  void connect(std::string_view features) {
    link = std::make_shared<FakeLink>();
    session.connect(link);
    session.receive(packet::frame("QStartNoAckMode"));
    ask("qSupported:" + std::string(features));
  }
  void disconnect() { session.disconnect(); }

  /// The payloads sent since the last call, escaped as they are on the wire.
  std::vector<std::string> take() {
    std::vector<std::string> payloads;
    auto text = std::exchange(link->sent, {});
    for (std::size_t at = 0; (at = text.find('$', at)) != std::string::npos;) {
      const auto hash = text.find('#', at);
      payloads.push_back(text.substr(at + 1, hash - at - 1));
      EXPECT_EQ(packet::frame(payloads.back()), text.substr(at, hash + 3 - at));
      at = hash + 3;
    }
    return payloads;
  }
  void send(std::string_view payload) { session.receive(packet::frame(payload)); }
  void raw(std::string_view bytes) { session.receive(bytes); }
  /// The one reply to one packet; "(none)" or "(several)" if it was not one.
  std::string ask(std::string_view payload) {
    link->sent.clear();
    send(payload);
    return only();
  }
  std::string only() {
    const auto replies = take();
    return replies.size() == 1 ? replies[0] : replies.empty() ? "(none)" : "(several)";
  }
};

}  // namespace detrec::gdbstub
