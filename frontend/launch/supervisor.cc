#include "frontend/launch/supervisor.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "frontend/launch/job_control.h"

namespace detrec::frontend {
namespace {

/// What a process keeps across execve and detrec must change for itself: put aside here, given back in the
/// child.
class InheritedState {
 public:
  /// Blocks every signal, makes SIGCHLD waitable, and takes the interval timers away from detrec.
  InheritedState() {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &mask_);
    struct sigaction wanted = {};
    wanted.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, &wanted, &child_action_);
    for (std::size_t i = 0; i < kTimers.size(); ++i) {
      const itimerval off = {};
      setitimer(kTimers[i], &off, &timers_[i]);
    }
  }

  /// For the child, just before execve.
  void give_back() const {
    sigaction(SIGCHLD, &child_action_, nullptr);
    for (std::size_t i = 0; i < kTimers.size(); ++i) {
      if (timerisset(&timers_[i].it_value)) setitimer(kTimers[i], &timers_[i], nullptr);
    }
    sigprocmask(SIG_SETMASK, &mask_, nullptr);
  }

 private:
  static constexpr std::array<decltype(ITIMER_REAL), 3> kTimers = {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF};

  sigset_t mask_;
  struct sigaction child_action_;
  std::array<itimerval, kTimers.size()> timers_;
};

/// True for signals that the kernel sends to a whole process group on behalf of a terminal: the child has
/// them already.
bool sent_to_group_by_terminal(const siginfo_t& info) {
  if (info.si_code != SI_KERNEL) return false;
  switch (info.si_signo) {
    case SIGINT:
    case SIGQUIT:
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
    case SIGCONT:
    case SIGWINCH:
      return true;
    case SIGHUP:  // of a terminal that goes away only its session's leader hears
      return getsid(0) != getpid();
    default:
      return false;
  }
}

void pass_on(const siginfo_t& info, pid_t child) {
  if (sent_to_group_by_terminal(info)) return;
  if (info.si_code == SI_QUEUE) {
    sigqueue(child, info.si_signo, info.si_value);
  } else {
    kill(child, info.si_signo);
  }
}

/// Waits for the child's end while passing signals on. All signals are blocked here and taken one by one.
int supervise(pid_t child) {
  sigset_t all;
  sigfillset(&all);
  for (;;) {
    int status = 0;
    const pid_t changed = waitpid(child, &status, WNOHANG | WUNTRACED);
    if (changed == child && WIFSTOPPED(status)) {
      stop_together(child, WSTOPSIG(status));
      continue;
    }
    if (changed == child) return status;

    siginfo_t info;
    if (sigwaitinfo(&all, &info) < 0) continue;  // EINTR: after a stop
    if (info.si_signo != SIGCHLD) pass_on(info, child);
  }
}

/// In the child: the reason why the engine did not start, left where the parent reads it.
[[noreturn]] void give_up(wire::Launch& launch, const std::string& what, int error) {
  launch.phase = wire::LaunchPhase::kFailed;
  launch.failure_status = error == E2BIG ? kExitCannotExecute : kExitOwnFailure;
  // What is cut off a long path leaves room for the reason.
  std::snprintf(launch.message, sizeof launch.message, "%.400s: %s", what.c_str(), std::strerror(error));
  _exit(launch.failure_status);
}

[[noreturn]] void become_engine(const EngineImage& engine, LaunchPage& page, const InheritedState& inherited,
                                pid_t parent, char* const* argv, const Attachments& attachments) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kExitOwnFailure);  // it died before the request was made
  fcntl(engine.descriptor(), F_SETFD, 0);
  fcntl(page.descriptor(), F_SETFD, 0);
  for (const int kept : {attachments.control, attachments.content}) {
    if (kept >= 0) fcntl(kept, F_SETFD, 0);
  }
  inherited.give_back();
  fexecve(engine.descriptor(), argv, environ);
  const int error = errno;
  give_up(page.get(), error == E2BIG ? argv[2] : "cannot execute the engine " + engine.path(), error);
}

std::vector<std::string> engine_words(const LaunchPage& page, const std::string& guest_path,
                                      const std::vector<std::string>& guest_argv,
                                      const Attachments& attachments) {
  std::string descriptors = std::to_string(page.descriptor());
  if (attachments.control >= 0) descriptors += ":" + std::to_string(attachments.control);
  std::vector<std::string> words = {"detrec-guest", std::move(descriptors), guest_path};
  words.insert(words.end(), guest_argv.begin(), guest_argv.end());
  return words;
}

/// As execve wants them; the strings stay the words'.
std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  return argv;
}

}  // namespace

Result<pid_t> start_engine(const EngineImage& engine, LaunchPage& page, const Attachments& attachments) {
  std::vector<std::string> words = engine_words(page, "", {""}, attachments);
  const std::vector<char*> argv = pointers(words);
  const InheritedState inherited;
  const pid_t parent = getpid();
  const pid_t child = fork();
  const int error = errno;
  if (child == 0) {
    setsid();  // whoever types ^C, ^\ or ^Z means the debugger; copies of the process inherit this
    become_engine(engine, page, inherited, parent, argv.data(), attachments);
  }
  inherited.give_back();
  if (child < 0) return Error{kExitOwnFailure, std::strerror(error), "fork"};
  return child;
}

Result<int> run_engine(const EngineImage& engine, LaunchPage& page, const std::string& guest_path,
                       const std::vector<std::string>& guest_argv, const Attachments& attachments) {
  std::vector<std::string> words = engine_words(page, guest_path, guest_argv, attachments);
  const std::vector<char*> argv = pointers(words);

  const InheritedState inherited;
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) return Error{kExitOwnFailure, std::strerror(errno), "fork"};
  if (child == 0) become_engine(engine, page, inherited, parent, argv.data(), attachments);
  attachments.on_started(child);
  return supervise(child);
}

}  // namespace detrec::frontend
