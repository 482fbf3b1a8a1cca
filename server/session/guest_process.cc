#include "server/session/guest_process.h"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <ctime>

namespace detrec::server {
namespace {

event::Error dead() { return {event::ErrorCode::kIo, "the replayed process has died"}; }

}  // namespace

event::Status GuestProcess::prepare_first(const ReplayChannel& channel) {
  const std::uint32_t posted = 1;
  const auto at = static_cast<off_t>(channel.launch->debug_offset + offsetof(wire::DebugMailbox, posted));
  if (pwrite(channel.descriptor, &posted, sizeof posted, at) != sizeof posted)
    return event::Error{event::ErrorCode::kIo, std::strerror(errno), "preparing the mailbox"};
  return event::Done{};
}

event::Result<std::unique_ptr<GuestProcess>> GuestProcess::attach(SessionContext& context, std::uint32_t slot,
                                                                  pid_t pid, const Spot& spot) {
  const wire::Launch& launch = *context.channel.launch;
  const std::uint64_t offset = launch.debug_offset + slot * wire::slot_bytes(launch.ring_bytes);
  void* memory = mmap(nullptr, sizeof(wire::DebugMailbox), PROT_READ | PROT_WRITE, MAP_SHARED,
                      context.channel.descriptor, static_cast<off_t>(offset));
  if (memory == MAP_FAILED)
    return event::Error{event::ErrorCode::kIo, std::strerror(errno), "mapping a mailbox"};
  auto* mailbox = static_cast<wire::DebugMailbox*>(memory);
  auto ring = Ring::map(context.channel.descriptor, offset + sizeof(wire::DebugMailbox), launch.ring_bytes);
  if (!ring) return ring.error();
  std::unique_ptr<GuestProcess> process(
      new GuestProcess(context, slot, pid, std::move(ring.value()), mailbox));
  process->spot_ = spot;
  process->next_event_ = spot.position.event + 1;
  return process;
}

GuestProcess::GuestProcess(SessionContext& context, std::uint32_t slot, pid_t pid, Ring ring,
                           wire::DebugMailbox* mailbox)
    : context_(context), slot_(slot), pid_(pid), ring_(std::move(ring)), mailbox_(mailbox) {}

GuestProcess::~GuestProcess() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  munmap(mailbox_, sizeof *mailbox_);
}

/// As if nobody had used the slot.
void GuestProcess::reset() {
  mailbox_->answered = mailbox_->interrupt = 0;
  mailbox_->posted = 1;  // a copy answers when it shares nothing any more
  mailbox_->command = {};
  ring_.reset();
}

std::string GuestProcess::message() const {
  return {mailbox_->message, strnlen(mailbox_->message, sizeof mailbox_->message)};
}

bool GuestProcess::alive() {
  int status = 0;
  if (pid_ <= 0 || waitpid(pid_, &status, WNOHANG) == 0) return pid_ > 0;
  pid_ = 0;
  return false;
}

void GuestProcess::note_time(const event::DecodedRecord& record) {
  const auto after = context_.times.upper_bound(record.number.value);
  if (after == context_.times.begin() || std::prev(after)->second != record.time.ns)
    context_.times[record.number.value] = record.time.ns;
}

/// Appends events for as long as there is room.
event::Status GuestProcess::feed() {
  if (!waiting_.empty()) {
    if (!ring_.fits(waiting_.size())) return event::Done{};
    ring_.append(waiting_);
    waiting_.clear();
  }
  if (all_fed_) return event::Done{};
  if (!cursor_) {
    auto cursor = context_.reader.events({next_event_});
    if (!cursor) return cursor.error();
    cursor_.emplace(std::move(cursor.value()));
  }
  std::vector<std::byte> placed;
  for (;;) {
    auto next = cursor_->next();
    if (!next) return next.error();
    if (!next.value()) {
      all_fed_ = true;
      ring_.end();
      return event::Done{};
    }
    const event::DecodedRecord& record = *next.value();
    note_time(record);
    if (const auto* start = record.view.as<event::StartView>()) {
      ImageStart image;
      image.stack_pointer = start->body->gpr[4];
      image.path = start->path;
      start->argv.for_each([&](std::string_view word) { image.arguments.emplace_back(word); });
      start->envp.for_each([&](std::string_view word) { image.environment.emplace_back(word); });
      context_.images[record.number.value] = std::move(image);
    }
    const auto bytes = context_.content.place(record, placed);
    if (!bytes) return bytes.error();
    if (!ring_.fits(bytes.value().size())) {
      waiting_.assign(bytes.value().begin(), bytes.value().end());
      return event::Done{};
    }
    ring_.append(bytes.value());
  }
}

event::Status GuestProcess::await_answer() {
  const std::uint32_t wanted = mailbox_->posted;
  const timespec patience = {0, static_cast<long>(wire::kNapNs)};
  for (int naps = 0;; ++naps) {
    const std::uint32_t answered = std::atomic_ref(mailbox_->answered).load(std::memory_order_acquire);
    if (answered == wanted) return event::Done{};
    if (const auto fed = feed(); !fed) return fed.error();
    ring_.wake_reader();
    syscall(SYS_futex, &mailbox_->answered, FUTEX_WAIT, answered, &patience, nullptr, 0);
    if (naps % 16 == 15 && !alive()) return dead();
  }
}

event::Result<std::int64_t> GuestProcess::ask(wire::DebugCommand command, std::uint64_t arg0,
                                              std::uint64_t arg1) {
  if (pid_ <= 0) return dead();
  mailbox_->command = command;
  mailbox_->args[0] = arg0;
  mailbox_->args[1] = arg1;
  std::atomic_ref(mailbox_->posted).fetch_add(1);
  syscall(SYS_futex, &mailbox_->posted, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  if (const auto answered = await_answer(); !answered) return answered.error();
  return mailbox_->result;
}

event::Status GuestProcess::begin() {
  if (const auto answered = await_answer(); !answered) return answered.error();
  take_stop();
  return event::Done{};
}

void GuestProcess::take_stop() {
  last_stop_ = mailbox_->stop;
  spot_ = {last_stop_.position, last_stop_.total_ticks};
}

event::Result<wire::DebugStop> GuestProcess::run(const wire::DebugRun& run) {
  mailbox_->run = run;
  // One that came before the process runs must not be lost, one that came before that must not count.
  context_.interruptible = &mailbox_->interrupt;
  if (context_.interrupted) std::atomic_ref(mailbox_->interrupt).store(1);
  const auto asked = ask(wire::DebugCommand::kRun);
  context_.interruptible = nullptr;
  if (!asked) return asked.error();
  take_stop();
  return last_stop_;
}

event::Result<std::size_t> GuestProcess::read_memory(std::uint64_t address, std::span<std::uint8_t> out) {
  std::size_t done = 0;
  while (done < out.size()) {
    const std::size_t piece = std::min<std::size_t>(out.size() - done, wire::kTransferBytes);
    const auto result = ask(wire::DebugCommand::kReadMemory, address + done, piece);
    if (!result) return result.error();
    const auto read = static_cast<std::size_t>(std::max<std::int64_t>(result.value(), 0));
    std::memcpy(out.data() + done, mailbox_->transfer, std::min(read, piece));
    done += std::min(read, piece);
    if (read < piece) break;
  }
  return done;
}

event::Result<wire::DebugRegisters> GuestProcess::read_registers(std::uint32_t thread) {
  const auto result = ask(wire::DebugCommand::kReadRegisters, thread);
  if (!result) return result.error();
  if (result.value() < 0) return event::Error{event::ErrorCode::kNotFound, "no such thread"};
  wire::DebugRegisters registers;
  std::memcpy(&registers, mailbox_->transfer, sizeof registers);
  return registers;
}

event::Status GuestProcess::write_memory(std::uint64_t address, std::span<const std::uint8_t> bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const std::size_t piece = std::min<std::size_t>(bytes.size() - done, wire::kTransferBytes);
    std::memcpy(mailbox_->transfer, bytes.data() + done, piece);
    const auto result = ask(wire::DebugCommand::kWriteMemory, address + done, piece);
    if (!result) return result.error();
    if (result.value() < 0) return event::Error{event::ErrorCode::kNotFound, "no such memory"};
    done += piece;
  }
  return event::Done{};
}

event::Status GuestProcess::write_registers(std::uint32_t thread, const wire::DebugRegisters& registers) {
  std::memcpy(mailbox_->transfer, &registers, sizeof registers);
  const auto result = ask(wire::DebugCommand::kWriteRegisters, thread);
  if (!result) return result.error();
  if (result.value() < 0) return event::Error{event::ErrorCode::kNotFound, "no such thread"};
  return event::Done{};
}

std::string GuestProcess::output() const {
  const auto size = static_cast<std::size_t>(std::max<std::int64_t>(mailbox_->result, 0));
  return {reinterpret_cast<const char*>(mailbox_->transfer),
          std::min<std::size_t>(size, wire::kTransferBytes)};
}

event::Result<std::vector<wire::DebugTrailEntry>> GuestProcess::trail() {
  std::vector<wire::DebugTrailEntry> all;
  while (all.size() < last_stop_.trail) {
    const auto result = ask(wire::DebugCommand::kReadTrail, all.size());
    if (!result) return result.error();
    if (result.value() <= 0) break;
    const auto* first = reinterpret_cast<const wire::DebugTrailEntry*>(mailbox_->transfer);
    all.insert(all.end(), first, first + result.value());
  }
  return all;
}

event::Status GuestProcess::read_vectors(std::uint64_t number, wire::DebugRegisters& into) {
  const auto result = ask(wire::DebugCommand::kReadVectors, number);
  if (!result) return result.error();
  if (result.value() < 0) return event::Error{event::ErrorCode::kNotFound, "no such registers"};
  std::memcpy(into.xsave, mailbox_->transfer, sizeof into.xsave);
  return event::Done{};
}

event::Result<std::vector<wire::DebugThread>> GuestProcess::threads() {
  const auto result = ask(wire::DebugCommand::kThreads);
  if (!result) return result.error();
  const auto* first = reinterpret_cast<const wire::DebugThread*>(mailbox_->transfer);
  return std::vector<wire::DebugThread>(first, first + std::max<std::int64_t>(result.value(), 0));
}

event::Result<std::vector<GuestProcess::Mapping>> GuestProcess::mappings() {
  std::vector<Mapping> all;
  for (std::uint64_t from = 0;;) {
    const auto result = ask(wire::DebugCommand::kMappings, from);
    if (!result) return result.error();
    if (result.value() <= 0) return all;
    const std::uint8_t* at = mailbox_->transfer;
    const std::uint8_t* end = at + result.value();
    while (at < end) {
      Mapping mapping;
      std::memcpy(&mapping.row, at, sizeof mapping.row);
      at += sizeof mapping.row;
      mapping.name.assign(reinterpret_cast<const char*>(at), mapping.row.name_size);
      at += (mapping.row.name_size + 7) & ~7u;
      from = mapping.row.end;
      all.push_back(std::move(mapping));
    }
  }
}

event::Status GuestProcess::set_breakpoints(std::span<const std::uint64_t> pcs) {
  if (pcs.size_bytes() > wire::kTransferBytes)
    return event::Error{event::ErrorCode::kMisuse, "too many breakpoints"};
  std::memcpy(mailbox_->transfer, pcs.data(), pcs.size_bytes());
  const auto result = ask(wire::DebugCommand::kSetBreakpoints, pcs.size());
  if (!result) return result.error();
  return event::Done{};
}

event::Status GuestProcess::set_watchpoints(std::span<const wire::DebugWatch> watches) {
  if (watches.size_bytes() > wire::kTransferBytes)
    return event::Error{event::ErrorCode::kMisuse, "too many watchpoints"};
  std::memcpy(mailbox_->transfer, watches.data(), watches.size_bytes());
  const auto result = ask(wire::DebugCommand::kSetWatchpoints, watches.size());
  if (!result) return result.error();
  return event::Done{};
}

event::Result<std::unique_ptr<GuestProcess>> GuestProcess::split(std::uint32_t slot) {
  // Its slot is made ready first: it may be faster than the answer, and whoever had the slot before left
  // things there.
  auto copy = attach(context_, slot, 0, spot_);
  if (!copy) return copy.error();
  copy.value()->reset();
  const auto result = ask(wire::DebugCommand::kCheckpoint, slot);
  if (!result) return result.error();
  if (result.value() <= 0)
    return event::Error{event::ErrorCode::kIo, std::strerror(static_cast<int>(-result.value())), "fork"};
  copy.value()->pid_ = static_cast<pid_t>(result.value());
  copy.value()->last_stop_ = last_stop_;
  if (const auto ready = copy.value()->await_answer(); !ready) return ready.error();
  return copy;
}

}  // namespace detrec::server
