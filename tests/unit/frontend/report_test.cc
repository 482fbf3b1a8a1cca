#include "frontend/report.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstring>

namespace detrec::frontend {
namespace {

using wire::Launch;
using wire::LaunchPhase;

// Encodings of man 2 wait on Linux: exit status in bits 8..15, signal in bits 0..6, core flag in bit 7.
constexpr int exited(int status) { return status << 8; }
constexpr int signaled(int number, bool core = false) { return number | (core ? 0x80 : 0); }

Launch launch_in(LaunchPhase phase) {
  Launch launch = {};
  launch.phase = phase;
  return launch;
}

TEST(Report, TheProgramsStatusIsPassedThrough) {
  const Launch launch = launch_in(LaunchPhase::kRunning);
  for (const int status : {0, 1, 125, 255}) {
    const Outcome outcome = judge(launch, exited(status), {});
    EXPECT_EQ(outcome.exit_status, status);
    EXPECT_EQ(outcome.text, "");
  }
  EXPECT_EQ(judge(launch, signaled(SIGTERM), {}).exit_status, 128 + SIGTERM);
  EXPECT_EQ(judge(launch, signaled(SIGSEGV, true), {}).exit_status, 128 + SIGSEGV);
}

TEST(Report, AFailureIsOneLineWithItsStatus) {
  Launch launch = launch_in(LaunchPhase::kFailed);
  launch.failure_status = kExitCannotExecute;
  std::strcpy(launch.message, "./x: 32-bit programs are not supported");
  const Outcome outcome = judge(launch, exited(1), {});
  EXPECT_EQ(outcome.exit_status, kExitCannotExecute);
  EXPECT_EQ(outcome.text, "detrec: ./x: 32-bit programs are not supported\n");
}

TEST(Report, AnEngineThatLeavesNonsenseStillFails) {
  Launch launch = launch_in(LaunchPhase::kFailed);
  launch.failure_status = 0;
  std::memset(launch.message, 'x', sizeof launch.message);
  const Outcome outcome = judge(launch, exited(0), {});
  EXPECT_EQ(outcome.exit_status, kExitOwnFailure);
  EXPECT_EQ(outcome.text, "detrec: " + std::string(sizeof launch.message, 'x') + "\n");
}

TEST(Report, AnEngineThatNeverStartedTheProgramIsOurFailure) {
  const Launch launch = launch_in(LaunchPhase::kStarting);
  EXPECT_EQ(judge(launch, exited(0), {}).exit_status, kExitOwnFailure);
  const Outcome crashed = judge(launch, signaled(SIGSEGV), {});
  EXPECT_EQ(crashed.exit_status, kExitOwnFailure);
  EXPECT_EQ(crashed.text, "detrec: the engine ended before the program started (signal 11)\n");
}

TEST(Report, StopsArePrintedWithStatusZero) {
  Launch launch = launch_in(LaunchPhase::kStopped);
  launch.stop.ticks = 1000;
  launch.stop.pc = 0x401136;
  launch.stop.register_hash = 0xbeef;
  launch.ticks = 1000;
  RunOptions options;
  options.stop_at = StopPoint{Ticks{1000}, {}};
  options.print_ticks = true;
  const Outcome outcome = judge(launch, exited(0), options);
  EXPECT_EQ(outcome.exit_status, 0);
  EXPECT_EQ(outcome.text, "stopped at ticks=1000 pc=0x401136 registers=000000000000beef\nticks: 1000\n");
}

TEST(Report, AStopThatWasNotReachedIsSaid) {
  RunOptions options;
  options.stop_at = StopPoint{Ticks{1000}, {}};
  const Outcome outcome = judge(launch_in(LaunchPhase::kRunning), exited(3), options);
  EXPECT_EQ(outcome.exit_status, 3);
  EXPECT_EQ(outcome.text, "detrec: the program ended before the stop position (status 3)\n");
}

TEST(Report, TicksOfAKilledProgramAreUnknownNotZero) {
  RunOptions options;
  options.print_ticks = true;
  EXPECT_EQ(judge(launch_in(LaunchPhase::kRunning), signaled(SIGKILL), options).text, "ticks: unknown\n");
}

TEST(Report, StatisticsAreAligned) {
  wire::EngineStats stats = {};
  stats.blocks_translated = 12345;
  stats.threads = 1;
  const std::string text = format_stats(stats);
  EXPECT_NE(text.find("blocks translated                       12345\n"), std::string::npos) << text;
  std::size_t width = text.find('\n');
  for (std::size_t begin = 0; begin < text.size(); begin += width + 1)
    EXPECT_EQ(text.find('\n', begin), begin + width);
}

}  // namespace
}  // namespace detrec::frontend
