#include "trace/event/names.h"

#include <cstring>
#include <iterator>

namespace detrec::event {

std::string_view errno_name(int number) {
  // include/linux/errno.h: codes that only tracers and recorders see.
  switch (number) {
    case 512:
      return "ERESTARTSYS";
    case 513:
      return "ERESTARTNOINTR";
    case 514:
      return "ERESTARTNOHAND";
    case 515:
      return "ENOIOCTLCMD";
    case 516:
      return "ERESTART_RESTARTBLOCK";
    default:
      break;
  }
  if (number <= 0) return {};
  const char* name = strerrorname_np(number);
  return name == nullptr ? std::string_view{} : std::string_view(name);
}

std::string_view signal_name(int number) {
  constexpr std::string_view kNames[] = {
      "",          "SIGHUP",  "SIGINT",    "SIGQUIT", "SIGILL",   "SIGTRAP", "SIGABRT", "SIGBUS",
      "SIGFPE",    "SIGKILL", "SIGUSR1",   "SIGSEGV", "SIGUSR2",  "SIGPIPE", "SIGALRM", "SIGTERM",
      "SIGSTKFLT", "SIGCHLD", "SIGCONT",   "SIGSTOP", "SIGTSTP",  "SIGTTIN", "SIGTTOU", "SIGURG",
      "SIGXCPU",   "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGWINCH", "SIGIO",   "SIGPWR",  "SIGSYS"};
  constexpr int kCount = sizeof kNames / sizeof kNames[0];
  return number > 0 && number < kCount ? kNames[number] : std::string_view{};
}

std::string_view name_of(wire::TurnReason reason) {
  switch (reason) {
    case wire::TurnReason::kSlice:
      return "slice";
    case wire::TurnReason::kWaits:
      return "waits";
    case wire::TurnReason::kExits:
      return "exits";
    case wire::TurnReason::kYields:
      return "yields";
    case wire::TurnReason::kPreempted:
      return "preempted";
  }
  return "unknown";
}

std::string_view name_of(wire::ExitCause cause) {
  switch (cause) {
    case wire::ExitCause::kThread:
      return "thread";
    case wire::ExitCause::kProcess:
      return "process";
    case wire::ExitCause::kSignal:
      return "signal";
    case wire::ExitCause::kExec:
      return "exec";
    case wire::ExitCause::kKilled:
      return "killed";
  }
  return "unknown";
}

std::string_view name_of(wire::Content content) {
  switch (content) {
    case wire::Content::kZero:
      return "zero";
    case wire::Content::kCapture:
      return "capture";
    case wire::Content::kData:
      return "data";
  }
  return "unknown";
}

std::string_view name_of(wire::InstructionKind kind) {
  constexpr std::string_view kNames[] = {"unknown", "rdtsc", "rdtscp", "rdrand",
                                         "rdseed",  "rdpid", "cpuid",  "xgetbv"};
  const auto index = static_cast<std::size_t>(kind);
  return index < std::size(kNames) ? kNames[index] : kNames[0];
}

}  // namespace detrec::event
