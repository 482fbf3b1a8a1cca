#include "gdbstub/packet/signal_numbers.h"

#include <csignal>

namespace detrec::gdbstub::packet {

namespace {

constexpr std::uint8_t kUnknown = 143;

struct Pair {
  int linux_number;
  std::uint8_t gdb_number;
};

constexpr Pair kSignals[] = {
    {0, 0},        {SIGHUP, 1},     {SIGINT, 2},   {SIGQUIT, 3},   {SIGILL, 4},   {SIGTRAP, 5},
    {SIGABRT, 6},  {SIGFPE, 8},     {SIGKILL, 9},  {SIGBUS, 10},   {SIGSEGV, 11}, {SIGSYS, 12},
    {SIGPIPE, 13}, {SIGALRM, 14},   {SIGTERM, 15}, {SIGURG, 16},   {SIGSTOP, 17}, {SIGTSTP, 18},
    {SIGCONT, 19}, {SIGCHLD, 20},   {SIGTTIN, 21}, {SIGTTOU, 22},  {SIGIO, 23},   {SIGXCPU, 24},
    {SIGXFSZ, 25}, {SIGVTALRM, 26}, {SIGPROF, 27}, {SIGWINCH, 28}, {SIGUSR1, 30}, {SIGUSR2, 31},
    {SIGPWR, 32},  {32, 77},        {64, 78},
};

// Real-time signals 33..63 are gdb's 45..75.
constexpr int kFirstRealTime = 33;
constexpr int kLastRealTime = 63;
constexpr int kRealTimeShift = 45 - kFirstRealTime;

}  // namespace

std::uint8_t gdb_signal(Signal signal) {
  for (const auto& pair : kSignals) {
    if (pair.linux_number == signal.value) return pair.gdb_number;
  }
  if (signal.value >= kFirstRealTime && signal.value <= kLastRealTime) {
    return static_cast<std::uint8_t>(signal.value + kRealTimeShift);
  }
  return kUnknown;
}

std::optional<Signal> linux_signal(std::uint64_t gdb_number) {
  for (const auto& pair : kSignals) {
    if (pair.gdb_number == gdb_number) return Signal{pair.linux_number};
  }
  if (gdb_number >= kFirstRealTime + kRealTimeShift && gdb_number <= kLastRealTime + kRealTimeShift) {
    return Signal{static_cast<std::int32_t>(gdb_number) - kRealTimeShift};
  }
  return std::nullopt;
}

}  // namespace detrec::gdbstub::packet
