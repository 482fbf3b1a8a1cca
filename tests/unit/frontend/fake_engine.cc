// Plays detrec-guest's part for the frontend's tests: no guest is run. It is started as
//     fake_engine <launch_fd> <guest path> <guest argv[0]> VERB [ARGUMENT...]
// and does what VERB says. Linked statically, as the engine is.
#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "trace/wire/version.h"

namespace {

using detrec::wire::Launch;
using detrec::wire::LaunchPhase;

volatile sig_atomic_t signals_seen = 0;
volatile sig_atomic_t last_signal = 0;

void note_signal(int number) {
  signals_seen = signals_seen + 1;
  last_signal = number;
}

/// Prints the open descriptors, those of the launch protocol and of the listing itself left out.
void print_descriptors(const Launch& launch) {
  DIR* directory = opendir("/proc/self/fd");
  std::string text;
  while (const dirent* entry = readdir(directory)) {
    const int number = std::atoi(entry->d_name);
    if (entry->d_name[0] == '.' || number == dirfd(directory)) continue;
    if (number == launch.engine_fd || number == launch.launch_fd) continue;
    text += std::string(entry->d_name) + " ";
  }
  closedir(directory);
  const int lowest_free = dup(0);
  std::printf("%slowest free %d\n", text.c_str(), lowest_free);
}

void print_signal_state() {
  FILE* status = std::fopen("/proc/self/status", "r");
  char line[256];
  while (std::fgets(line, sizeof line, status) != nullptr) {
    if (std::strncmp(line, "SigBlk", 6) == 0 || std::strncmp(line, "SigIgn", 6) == 0)
      std::fputs(line, stdout);
  }
  std::fclose(status);
}

/// Says "ready" and reports each caught signal until SIGTERM ends it.
void report_signals() {
  for (const int number : {SIGHUP, SIGINT, SIGUSR1, SIGTERM, SIGCONT}) signal(number, note_signal);
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &before);
  std::puts("ready");
  std::fflush(stdout);
  while (last_signal != SIGTERM) {
    sigsuspend(&before);
    std::printf("signal %d\n", static_cast<int>(last_signal));
    std::fflush(stdout);
  }
}

/// Stops itself and is continued by a child of its own.
void stop_and_go_on() {
  const pid_t self = getpid();
  const pid_t child = fork();
  if (child == 0) {
    usleep(300'000);
    kill(self, SIGCONT);
    _exit(0);
  }
  raise(SIGSTOP);
  std::puts("going on");
}

int act(Launch& launch, int argc, char** argv) {
  const std::string verb = argc > 4 ? argv[4] : "";
  const char* argument = argc > 5 ? argv[5] : "";
  if (verb == "die-early") return std::atoi(argument);
  if (verb == "crash-early") return raise(SIGSEGV);
  if (verb == "fail") {
    launch.phase = LaunchPhase::kFailed;
    launch.failure_status = std::atoi(argument);
    std::snprintf(launch.message, sizeof launch.message, "%s", argc > 6 ? argv[6] : "");
    return 1;
  }
  launch.phase = LaunchPhase::kRunning;
  if (verb == "exit") return std::atoi(argument);
  if (verb == "signal") return raise(std::atoi(argument));
  if (verb == "argv") {
    for (int i = 2; i < argc; ++i) std::printf("[%s]", argv[i]);
    std::puts("");
  }
  if (verb == "env")
    std::printf("%s\n", std::getenv(argument) != nullptr ? std::getenv(argument) : "(unset)");
  if (verb == "fds") print_descriptors(launch);
  if (verb == "sigstate") print_signal_state();
  if (verb == "signals") report_signals();
  if (verb == "stop-itself") stop_and_go_on();
  if (verb == "alarm") {
    itimerval timer = {};
    getitimer(ITIMER_REAL, &timer);
    std::puts(timerisset(&timer.it_value) ? "alarm set" : "no alarm");
  }
  if (verb == "options") {
    std::printf("stop %llu:%llu slice %llu+%llu limit %llu trace %u\n",
                static_cast<unsigned long long>(launch.stop_ticks),
                static_cast<unsigned long long>(launch.stop_pc),
                static_cast<unsigned long long>(launch.slice_ticks),
                static_cast<unsigned long long>(launch.slice_jitter),
                static_cast<unsigned long long>(launch.translate_limit), launch.trace_level);
  }
  if (verb == "count") {
    launch.ticks = std::strtoull(argument, nullptr, 10);
    launch.stats.blocks_translated = 42;
    launch.stats.threads = 1;
  }
  if (verb == "stop") {
    launch.phase = LaunchPhase::kStopped;
    launch.stop.ticks = launch.stop_ticks;
    launch.stop.pc = launch.stop_pc;
    launch.stop.register_hash = 0xabc;
  }
  if (verb == "sleep") {
    std::printf("%d\n", static_cast<int>(getpid()));
    std::fflush(stdout);
    sleep(60);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4 || std::strcmp(argv[0], "detrec-guest") != 0) return 99;
  void* page = mmap(nullptr, sizeof(Launch), PROT_READ | PROT_WRITE, MAP_SHARED, std::atoi(argv[1]), 0);
  if (page == MAP_FAILED) return 98;
  auto& launch = *static_cast<Launch*>(page);
  if (launch.magic != detrec::wire::kLaunchMagic || launch.version != detrec::wire::kWireVersion) return 97;
  if (launch.launch_fd != std::atoi(argv[1]) || fcntl(launch.engine_fd, F_GETFD) != 0) return 96;
  if (fcntl(launch.launch_fd, F_GETFD) != 0) return 95;
  return act(launch, argc, argv);
}
