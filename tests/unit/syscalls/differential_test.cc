// The table against this machine's kernel: real calls, and which bytes they really write.
#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstring>

#include "tests/unit/syscalls/canary.h"

namespace detrec::syscalls::test {
namespace {

constexpr int kAtLeast = 150;  // cases that must have found their call available

int& calls_compared() {
  static int count = 0;
  return count;
}

std::vector<Case> all_cases() {
  std::vector<Case> all;
  for (const auto& group : {file_cases(), waiting_cases(), ioctl_cases(), socket_cases(),
                            socket_option_cases(), process_cases(), signal_and_time_cases(), ipc_cases()}) {
    all.insert(all.end(), group.begin(), group.end());
  }
  return all;
}

class RealCall : public testing::TestWithParam<Case> {};

TEST_P(RealCall, WritesWhatTheTableSays) {
  const Finding finding = compare_with_table(GetParam());
  if (finding.lacks != 0) GTEST_SKIP() << "not available here: " << std::strerror(finding.lacks);
  for (const std::string& error : finding.errors) ADD_FAILURE() << error;
  ++calls_compared();
}

INSTANTIATE_TEST_SUITE_P(Kernel, RealCall, testing::ValuesIn(all_cases()),
                         [](const testing::TestParamInfo<Case>& one) { return one.param.name; });

Case uname_case() {
  return {"uname", [](Arena& arena) { return call(SYS_uname, arena.out(390)); }, "", {}};
}

// The comparison itself: it must see bytes that the table leaves out, and bytes that it claims without cause.
TEST(Comparison, SeesWritesThatAreNotDescribed) {
  const Finding finding = compare_with_table(uname_case(), SYS_sysinfo);
  EXPECT_FALSE(finding.errors.empty());
  EXPECT_GT(finding.written, finding.said);
}

TEST(Comparison, SeesDescribedBytesThatAreNotWritten) {
  const Case one{"getresuid",
                 [](Arena& arena) { return call(SYS_getresuid, arena.out(64), arena.out(4), arena.out(4)); },
                 "",
                 {}};
  const Finding finding = compare_with_table(one, SYS_getitimer);  // says: 32 bytes at the second argument
  EXPECT_FALSE(finding.errors.empty());
}

TEST(Comparison, AcceptsTheRightDescription) { EXPECT_TRUE(compare_with_table(uname_case()).errors.empty()); }

class EnoughWasCompared : public testing::Environment {
 public:
  void TearDown() override {
    if (testing::GTEST_FLAG(filter) != "*" || testing::GTEST_FLAG(list_tests)) return;
    EXPECT_GE(calls_compared(), kAtLeast) << "too few calls were available for the comparison to mean much";
  }
};
const testing::Environment* const kEnoughWasCompared =
    testing::AddGlobalTestEnvironment(new EnoughWasCompared);

}  // namespace
}  // namespace detrec::syscalls::test
