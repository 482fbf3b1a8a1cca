#include "gdbstub/target.h"

#include <cerrno>

#include "gdbstub/documents/link_maps.h"

namespace detrec::gdbstub {

namespace {

Error read_only(const char* what) { return {EROFS, std::string(what) + " of a recording cannot be changed"}; }

}  // namespace

Result<LibraryList> Target::libraries(ProcessId process) { return documents::walk_link_maps(*this, process); }

Status Target::write_registers(ThreadRef, const Registers&) { return read_only("registers"); }

Status Target::write_memory(ProcessId, Address, std::span<const std::uint8_t>) { return read_only("memory"); }

Result<std::vector<std::uint8_t>> Target::read_siginfo(ThreadRef) {
  return Error{ENODATA, "the thread did not stop for a signal"};
}

Status Target::write_siginfo(ThreadRef, std::span<const std::uint8_t>) {
  return read_only("the signal information");
}

Status Target::check_breakpoint(const BreakpointSpec&) { return Done{}; }

Status Target::restart() { return Error{ENOTSUP, "this target cannot be restarted"}; }

void Target::client_gone() {}

void Target::monitor(const std::string& command, std::shared_ptr<MonitorReply> reply) {
  reply->finish(Error{EINVAL, "there is no such monitor command", command});
}

}  // namespace detrec::gdbstub
