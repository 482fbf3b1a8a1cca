// The whole command line against a fake engine: what the child inherits, what comes back, who gets which
// signal.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace {

constexpr int kPatienceMs = 20'000;  // a bound against hanging, never a measurement
constexpr int kDetrecNotStarted = 200;

using Words = std::vector<std::string>;

/// A started `detrec run --engine-only OPTIONS -- PROGRAM VERB...`, its stdout and stderr in pipes.
class Detrec {
 public:
  /// `prepare` runs in the child just before execve.
  Detrec(const Words& options, const Words& guest_words, const std::function<void()>& prepare = {})
      : Detrec(options, guest_words, "/bin/sh", prepare) {}
  Detrec(const Words& options, const Words& guest_words, const std::string& program,
         const std::function<void()>& prepare, const std::string& terminal = {}) {
    Words words = {DETREC_PATH, "run", "--engine-only"};
    words.insert(words.end(), options.begin(), options.end());
    words.push_back("--");
    words.push_back(program);
    words.insert(words.end(), guest_words.begin(), guest_words.end());
    start(words, prepare, terminal);
  }
  ~Detrec() {
    if (!reaped_) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    close(out_);
    close(err_);
  }
  Detrec(const Detrec&) = delete;
  Detrec& operator=(const Detrec&) = delete;

  pid_t pid() const { return pid_; }

  /// The next line of stdout, without its newline; what there is at the end of file or after kPatienceMs.
  std::string line() { return read_from(out_, true); }
  std::string rest() { return read_from(out_, false); }
  /// True once nobody holds the writing end of stdout any more.
  bool output_closed() const {
    pollfd ready = {out_, POLLIN, 0};
    char byte = 0;
    return poll(&ready, 1, kPatienceMs) == 1 && read(out_, &byte, 1) == 0;
  }
  std::string errors() { return read_from(err_, false); }

  /// Waits for a change of the given kind (0, WUNTRACED, WCONTINUED) and returns the wait status.
  int wait(int kind = 0) {
    for (int waited = 0; waited < kPatienceMs; waited += 10) {
      int status = 0;
      if (waitpid(pid_, &status, WNOHANG | kind) == pid_) {
        reaped_ = WIFEXITED(status) || WIFSIGNALED(status);
        return status;
      }
      usleep(10'000);
    }
    ADD_FAILURE() << "no change of state";
    return -1;
  }
  int exit_status() {
    const int status = wait();
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  /// With a terminal, detrec leads a session on it; else it only leads a process group.
  void start(const Words& words, const std::function<void()>& prepare, const std::string& terminal) {
    int out[2];
    int err[2];
    ASSERT_EQ(pipe2(out, O_CLOEXEC), 0);
    ASSERT_EQ(pipe2(err, O_CLOEXEC), 0);
    std::vector<char*> argv;
    for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    pid_ = fork();
    if (pid_ == 0) {
      if (terminal.empty()) {
        setpgid(0, 0);
      } else {
        setsid();
        dup2(open(terminal.c_str(), O_RDWR),
             0);  // the first terminal a session leader opens controls the session
      }
      dup2(out[1], 1);
      dup2(err[1], 2);
      closefrom(3);
      setenv("DETREC_GUEST", FAKE_ENGINE_PATH, 1);
      if (prepare) prepare();
      execv(argv[0], argv.data());
      _exit(kDetrecNotStarted);
    }
    if (terminal.empty()) setpgid(pid_, pid_);
    close(out[1]);
    close(err[1]);
    out_ = out[0];
    err_ = err[0];
  }

  static std::string read_from(int descriptor, bool one_line) {
    std::string text;
    pollfd ready = {descriptor, POLLIN, 0};
    char byte = 0;
    while (poll(&ready, 1, kPatienceMs) == 1 && read(descriptor, &byte, 1) == 1) {
      if (one_line && byte == '\n') break;
      text += byte;
    }
    return text;
  }

  pid_t pid_ = -1;
  int out_ = -1;
  int err_ = -1;
  bool reaped_ = false;
};

TEST(Launch, StatusesArePassedThrough) {
  EXPECT_EQ(Detrec({}, {"exit", "0"}).exit_status(), 0);
  EXPECT_EQ(Detrec({}, {"exit", "3"}).exit_status(), 3);
  EXPECT_EQ(Detrec({}, {"signal", "15"}).exit_status(), 128 + 15);
  EXPECT_EQ(Detrec({}, {"signal", "11"}).exit_status(), 128 + 11);
}

TEST(Launch, EngineFailuresBecomeOneLine) {
  Detrec run({}, {"fail", "126", "/bin/sh: not an x86-64 program"});
  EXPECT_EQ(run.exit_status(), 126);
  EXPECT_EQ(run.errors(), "detrec: /bin/sh: not an x86-64 program\n");
  EXPECT_EQ(Detrec({}, {"die-early", "0"}).exit_status(), 125);
  EXPECT_EQ(Detrec({}, {"crash-early"}).exit_status(), 125);
}

TEST(Launch, TheGuestGetsItsPathArgumentsAndEnvironment) {
  EXPECT_EQ(Detrec({}, {"argv", "--ticks", "", "a b"}).line(), "[/bin/sh][/bin/sh][argv][--ticks][][a b]");
  EXPECT_EQ(Detrec({}, {"env", "GREETING"}, [] { setenv("GREETING", "hello", 1); }).line(), "hello");
}

TEST(Launch, OptionsReachTheEngine) {
  EXPECT_EQ(Detrec({}, {"options"}).line(), "stop 18446744073709551615:0 slice 0+0 limit 0 trace 0");
  EXPECT_EQ(Detrec({"--stop-at", "5k:0x10", "--slice", "7+2", "--translate-limit", "9", "--trace-level", "0"},
                   {"options"})
                .line(),
            "stop 5000:16 slice 7+2 limit 9 trace 0");
}

TEST(Launch, ResultsArePrintedOnStderrOnly) {
  Detrec run({"--ticks", "--stats"}, {"count", "77"});
  EXPECT_EQ(run.exit_status(), 0);
  EXPECT_EQ(run.rest(), "");
  const std::string errors = run.errors();
  EXPECT_TRUE(errors.starts_with("ticks: 77\nblocks translated                          42\n")) << errors;

  Detrec stopped({"--stop-at", "9:0x40"}, {"stop"});
  EXPECT_EQ(stopped.exit_status(), 0);
  EXPECT_EQ(stopped.errors(), "stopped at ticks=9 pc=0x40 registers=0000000000000abc\n");
}

TEST(Launch, NoDescriptorLeaksAndTheLowestFreeOneIsTheNativeOne) {
  EXPECT_EQ(Detrec({}, {"fds"}).line(), "0 1 2 lowest free 3");
  EXPECT_EQ(Detrec({}, {"fds"}, [] { dup2(1, 7); }).line(), "0 1 2 7 lowest free 3");
  EXPECT_EQ(Detrec({}, {"fds"}, [] { close(2); }).line(), "0 1 lowest free 2");
  const auto lower_the_limit = [] {
    const rlimit limit = {16, 16};
    setrlimit(RLIMIT_NOFILE, &limit);
    dup2(1, 15);
  };
  EXPECT_EQ(Detrec({}, {"fds"}, lower_the_limit).line(), "0 1 2 15 lowest free 3");
}

TEST(Launch, MaskDispositionsAndTimersAreInherited) {
  const auto prepare = [] {
    for (const int number : {SIGINT, SIGCHLD, SIGHUP, SIGPIPE}) signal(number, SIG_IGN);
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR2);
    sigprocmask(SIG_SETMASK, &blocked, nullptr);
  };
  Detrec run({}, {"sigstate"}, prepare);
  EXPECT_EQ(run.line(), "SigBlk:\t0000000000000800");
  EXPECT_EQ(run.line(), "SigIgn:\t0000000000011003");
  EXPECT_EQ(run.exit_status(), 0);

  Detrec plain({}, {"sigstate"});
  EXPECT_EQ(plain.line(), "SigBlk:\t0000000000000000");
  EXPECT_EQ(plain.line(), "SigIgn:\t0000000000000000");

  EXPECT_EQ(Detrec({}, {"alarm"}, [] { alarm(1000); }).line(), "alarm set");
  EXPECT_EQ(Detrec({}, {"alarm"}).line(), "no alarm");
}

TEST(Launch, SignalsSentToDetrecArePassedOn) {
  Detrec run({}, {"signals"});
  ASSERT_EQ(run.line(), "ready");
  for (const int number : {SIGUSR1, SIGHUP, SIGINT}) {
    kill(run.pid(), number);
    EXPECT_EQ(run.line(), "signal " + std::to_string(number));
  }
  kill(run.pid(), SIGTERM);
  EXPECT_EQ(run.line(), "signal 15");
  EXPECT_EQ(run.exit_status(), 0);
}

TEST(Launch, TheTerminalsInterruptReachesTheGuestOnceAndLeavesDetrecAlive) {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  ASSERT_GE(terminal, 0);
  ASSERT_EQ(grantpt(terminal), 0);
  ASSERT_EQ(unlockpt(terminal), 0);
  Detrec run({}, {"signals"}, "/bin/sh", {}, ptsname(terminal));
  ASSERT_EQ(run.line(), "ready");
  ASSERT_EQ(write(terminal, "\x03", 1), 1);
  EXPECT_EQ(run.line(), "signal 2");
  usleep(100'000);  // a second, forwarded one would have come by now
  kill(run.pid(), SIGUSR1);
  EXPECT_EQ(run.line(), "signal 10");
  kill(run.pid(), SIGTERM);
  EXPECT_EQ(run.line(), "signal 15");
  EXPECT_EQ(run.exit_status(), 0);
  close(terminal);
}

TEST(Launch, AStoppedGuestStopsDetrecAndBothGoOn) {
  Detrec run({}, {"signals"});
  ASSERT_EQ(run.line(), "ready");
  kill(run.pid(), SIGTSTP);  // passed on; the guest stops, then detrec
  const int stopped = run.wait(WUNTRACED);
  ASSERT_TRUE(WIFSTOPPED(stopped));
  EXPECT_EQ(WSTOPSIG(stopped), SIGTSTP);
  kill(run.pid(), SIGCONT);
  EXPECT_EQ(run.line(), "signal 18");
  kill(run.pid(), SIGTERM);
  EXPECT_EQ(run.line(), "signal 15");
  EXPECT_EQ(run.exit_status(), 0);
}

TEST(Launch, AGuestContinuedByOthersTakesDetrecAlong) {
  Detrec run({}, {"stop-itself"});
  const int stopped = run.wait(WUNTRACED);
  ASSERT_TRUE(WIFSTOPPED(stopped));
  EXPECT_EQ(WSTOPSIG(stopped), SIGSTOP);
  EXPECT_EQ(run.line(), "going on");
  EXPECT_EQ(run.exit_status(), 0);
}

TEST(Launch, TheGuestDiesWithDetrec) {
  Detrec run({}, {"sleep"});
  const pid_t guest = std::atoi(run.line().c_str());
  kill(run.pid(), SIGKILL);
  run.wait();
  EXPECT_TRUE(run.output_closed()) << "process " << guest << " still holds it";
}

TEST(Launch, AnEngineThatIsMissingOrNoProgramIsOurFailure) {
  Detrec missing({}, {"exit", "0"}, [] { setenv("DETREC_GUEST", "/none/detrec-guest", 1); });
  EXPECT_EQ(missing.exit_status(), 125);
  EXPECT_EQ(missing.errors(), "detrec: the engine was not found (looked for /none/detrec-guest)\n");
  Detrec text({}, {"exit", "0"}, [] { setenv("DETREC_GUEST", "/etc/passwd", 1); });
  EXPECT_EQ(text.exit_status(), 125);
  EXPECT_EQ(text.errors(), "detrec: cannot execute the engine /etc/passwd: Permission denied\n");
}

TEST(Launch, AnArgumentListThatIsTooLongIsRefusedClearly) {
  // The engine is started with the guest's path as one more word. With a long path there are lengths of the
  // other words with which detrec can be executed and the engine cannot.
  std::string long_path = "/bin";
  while (long_path.size() < 3500) long_path += "/../bin";
  bool refused = false;
  for (std::size_t length = 220'000; length < 270'000 && !refused; length += 1000) {
    Words words = {"exit", "0"};
    for (std::size_t i = 0; i < length / 1000; ++i) words.push_back(std::string(991, 'x'));
    Detrec run({}, words, "sh", [&] {
      const rlimit small = {1024 * 1024, RLIM_INFINITY};  // a quarter is for the argument list (man 2 execve)
      setrlimit(RLIMIT_STACK, &small);
      setenv("PATH", long_path.c_str(), 1);
    });
    const int status = run.exit_status();
    if (status == kDetrecNotStarted) break;
    if (status != 126) continue;
    refused = true;
    EXPECT_EQ(run.errors(), "detrec: " + long_path.substr(0, 400) + ": Argument list too long\n");
  }
  EXPECT_TRUE(refused);
}

}  // namespace
