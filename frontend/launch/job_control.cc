#include "frontend/launch/job_control.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <ctime>
#include <string>
#include <string_view>

namespace detrec::frontend {
namespace {

constexpr timespec kWatchInterval = {0, 50'000'000};

sigset_t set_of(int signal_number) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal_number);
  return set;
}

/// True while `process` is in the stopped state (man 5 proc: the field after the name in parentheses).
bool is_stopped(pid_t process) {
  const std::string path = "/proc/" + std::to_string(process) + "/stat";
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char buffer[256];
  const ssize_t size = read(file, buffer, sizeof buffer);
  close(file);
  const std::string_view text(buffer, size > 0 ? static_cast<std::size_t>(size) : 0);
  const auto end_of_name = text.rfind(')');
  return end_of_name != std::string_view::npos && text.substr(end_of_name).starts_with(") T");
}

/// Starts a process that continues this one as soon as `child` is no longer stopped. Somebody has to look: a
/// stopped process cannot wait, and only a parent is told. Returns its pid, or -1; without it detrec merely
/// stays stopped.
pid_t start_waker(pid_t child) {
  const pid_t self = getpid();
  const pid_t waker = fork();
  if (waker != 0) return waker;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // Again and again until killed: a SIGCONT that comes before the stop is lost.
  for (; getppid() == self; nanosleep(&kWatchInterval, nullptr)) {
    if (!is_stopped(child)) kill(self, SIGCONT);
  }
  _exit(0);
}

/// Returns once this process was continued.
void stop_with(int signal_number) {
  const sigset_t only = set_of(signal_number);
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  struct sigaction before = {};
  if (signal_number != SIGSTOP) sigaction(signal_number, &standard, &before);
  raise(signal_number);                      // SIGSTOP stops here,
  sigprocmask(SIG_UNBLOCK, &only, nullptr);  // the others here
  sigprocmask(SIG_BLOCK, &only, nullptr);
  if (signal_number != SIGSTOP) sigaction(signal_number, &before, nullptr);
}

/// Continues the child unless it goes on already, by the same SIGCONT to the group or by somebody else's.
void continue_child(pid_t child) {
  const sigset_t only = set_of(SIGCONT);
  const timespec at_once = {};
  while (sigtimedwait(&only, nullptr, &at_once) > 0) continue;
  siginfo_t info = {};
  if (waitid(P_PID, static_cast<id_t>(child), &info, WNOHANG | WCONTINUED) == 0 && info.si_pid == child)
    return;
  kill(child, SIGCONT);
}

}  // namespace

void stop_together(pid_t child, int signal_number) {
  const pid_t waker = start_waker(child);
  stop_with(signal_number);
  if (waker > 0) {
    kill(waker, SIGKILL);
    waitpid(waker, nullptr, 0);
  }
  continue_child(child);
}

}  // namespace detrec::frontend
