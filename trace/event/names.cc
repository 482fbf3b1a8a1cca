#include "trace/event/names.h"

#include <cstring>

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

}  // namespace detrec::event
