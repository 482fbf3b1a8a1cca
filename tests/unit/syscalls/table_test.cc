// The table in itself, and against the kernel headers of this machine.
#include "trace/syscalls/table.h"

#include <asm/unistd_64.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "tests/unit/syscalls/arg_checks.h"
#include "trace/syscalls/commands.h"

namespace detrec::syscalls {
namespace {

// name -> number, from "#define __NR_name number" lines.
std::map<std::string, int> numbers_in(const char* file) {
  std::map<std::string, int> numbers;
  std::ifstream stream(file);
  std::string line;
  while (std::getline(stream, line)) {
    std::istringstream words(line);
    std::string define, name, value;
    words >> define >> name >> value;
    for (const std::string prefix : {"__NR3264_", "__NR_"}) {
      if (name.rfind(prefix, 0) != 0) continue;
      if (value.empty() || value.find_first_not_of("0123456789") != std::string::npos) continue;
      numbers[name.substr(prefix.size())] = std::atoi(value.c_str());
    }
  }
  return numbers;
}

template <typename Check>
void for_each_row(Check check) {
  for (std::size_t i = 0; i < row_count(); ++i) {
    SCOPED_TRACE(row_at(i).name);
    check(row_at(i));
  }
}

TEST(SyscallTable, HasEveryNumberOfTheHeader) {
  const auto numbers = numbers_in(X86_64_NUMBERS);
  ASSERT_GT(numbers.size(), 350u);
  for (const auto& [name_in_header, number] : numbers) {
    const SyscallRow* row = find(number);
    ASSERT_NE(row, nullptr) << name_in_header;
    EXPECT_EQ(row->name, name_in_header);
    EXPECT_EQ(row->number, number);
  }
}

TEST(SyscallTable, AgreesWithTheGenericHeaderFrom424On) {
  int compared = 0;
  for (const auto& [name_in_header, number] : numbers_in(GENERIC_NUMBERS)) {
    if (number < 424 || name_in_header == "syscalls") continue;
    ASSERT_NE(find(number), nullptr) << name_in_header;
    EXPECT_EQ(find(number)->name, name_in_header);
    ++compared;
  }
  EXPECT_GE(compared, 20);
}

TEST(SyscallTable, KnowsTheCallsOfNewerKernels) {
  EXPECT_STREQ(name(451), "cachestat");
  EXPECT_STREQ(name(452), "fchmodat2");
  EXPECT_STREQ(name(462), "mseal");
  EXPECT_STREQ(name(466), "removexattrat");
  EXPECT_STREQ(name(469), "file_setattr");
}

TEST(SyscallTable, HasNoRowForNumbersThatDoNotExist) {
  for (const int number : {-1, 337, 423, kEndOfNumbers, 512, 547, 1000000, 0x40000000}) {
    EXPECT_EQ(find(number), nullptr) << number;
    EXPECT_STREQ(name(number), "unknown");
  }
}

TEST(SyscallTable, RowsAreAscendingAndUnique) {
  std::set<std::string> names;
  int previous = -1;
  for_each_row([&](const SyscallRow& row) {
    EXPECT_GT(row.number, previous);
    previous = row.number;
    EXPECT_TRUE(names.insert(row.name).second);
    EXPECT_EQ(find(row.number), &row);
    EXPECT_EQ(row.name[sizeof(row.name) - 1], '\0');
    EXPECT_NE(row.name[0], '\0');
  });
  EXPECT_EQ(previous + 1, kEndOfNumbers);
}

TEST(SyscallTable, ArgumentsAreDescribedWithoutGaps) {
  for_each_row([](const SyscallRow& row) {
    ASSERT_LE(row.arg_count, kMaxArgs);
    for (int i = 0; i < kMaxArgs; ++i) EXPECT_EQ(row.args[i].kind == ArgKind::kNone, i >= row.arg_count) << i;
  });
}

TEST(SyscallTable, LengthsReferToLengths) {
  for_each_row([](const SyscallRow& row) {
    std::array<Arg, kMaxArgs> all;
    std::copy(std::begin(row.args), std::end(row.args), all.begin());
    for (const Arg& arg : all) test::check_arg(arg, all);
  });
}

TEST(SyscallTable, ClassesGoWithSubjectsAndErrors) {
  for_each_row([](const SyscallRow& row) {
    EXPECT_EQ(row.klass == Class::kSpecial, row.subject != Subject::kNone);
    if (row.klass == Class::kRefused) {
      EXPECT_GT(row.error, 0);
      EXPECT_LT(row.error, 134);
    } else if (row.klass != Class::kSpecial) {
      EXPECT_EQ(row.error, 0);
    }
    if (row.klass == Class::kMayBlock || row.has(kBlocks)) {
      EXPECT_NE(row.restart, Restart::kUninterruptible);
    }
    if (row.has(kBlocks)) {
      EXPECT_EQ(row.klass, Class::kSpecial);
    }
    if (row.has(kNoReturn)) {
      EXPECT_EQ(row.klass, Class::kSpecial);
    }
  });
}

TEST(SyscallTable, PathsAreDescribedAsPaths) {
  for_each_row([](const SyscallRow& row) {
    std::set<int> used;
    for (const PathUse& path : row.paths) {
      if (path.arg == kNoArg) continue;
      ASSERT_LT(path.arg, row.arg_count);
      EXPECT_EQ(row.args[path.arg].kind, ArgKind::kPath);
      EXPECT_TRUE(used.insert(path.arg).second);
      if (path.dirfd != kNoArg) {
        EXPECT_EQ(row.args[path.dirfd].kind, ArgKind::kDirFd);
      }
      const bool needs_flags = path.follow != Follow::kAlways && path.follow != Follow::kNever;
      EXPECT_EQ(needs_flags, path.flags != kNoArg);
      if (needs_flags) {
        const ArgKind kind = row.args[path.flags].kind;
        EXPECT_TRUE(kind == ArgKind::kFlags || kind == ArgKind::kIn);
      }
    }
    for (int i = 0; i < row.arg_count; ++i) {
      if (row.args[i].kind == ArgKind::kPath) {
        EXPECT_TRUE(used.count(i) != 0) << "path argument " << i;
      }
    }
    // A call with a directory descriptor and a path resolves the one against the other.
    for (int i = 0; i + 1 < row.arg_count; ++i) {
      if (row.args[i].kind != ArgKind::kDirFd || row.args[i + 1].kind != ArgKind::kPath) continue;
      const bool found = std::any_of(std::begin(row.paths), std::end(row.paths), [i](const PathUse& path) {
        return path.arg == i + 1 && path.dirfd == i;
      });
      EXPECT_TRUE(found) << "directory argument " << i;
    }
  });
}

TEST(SyscallTable, DescriptorsAreDescribedAsDescriptors) {
  for_each_row([](const SyscallRow& row) {
    EXPECT_EQ(row.has(kDropsFds), row.closes != 0);
    for (int i = 0; i < kMaxArgs; ++i) {
      if ((row.closes >> i & 1) != 0) {
        EXPECT_EQ(row.args[i].kind, ArgKind::kFd);
      }
    }
    EXPECT_EQ(row.has(kWritesFile), row.file_arg != kNoArg);
    if (row.file_arg != kNoArg) {
      const ArgKind kind = row.args[row.file_arg].kind;
      EXPECT_TRUE(kind == ArgKind::kFd || kind == ArgKind::kPath);
    }
    switch (row.creates) {
      case Creates::kPair:
        ASSERT_LT(row.creates_arg, kMaxArgs);
        EXPECT_EQ(row.args[row.creates_arg].kind, ArgKind::kOut);
        EXPECT_EQ(row.args[row.creates_arg].size, 8);
        break;
      case Creates::kMessage: {
        ASSERT_LT(row.creates_arg, kMaxArgs);
        const ArgKind kind = row.args[row.creates_arg].kind;
        EXPECT_TRUE(kind == ArgKind::kMsghdrOut || kind == ArgKind::kMmsghdrOut);
        break;
      }
      case Creates::kPointee:
        ASSERT_LT(row.creates_arg, kMaxArgs);
        break;
      default:
        EXPECT_EQ(row.creates_arg, kNoArg);
        break;
    }
  });
}

TEST(SyscallTable, CommandsGoWithCommandArguments) {
  std::set<Commands> used;
  for_each_row([&](const SyscallRow& row) {
    const bool by_command = std::any_of(std::begin(row.args), std::end(row.args),
                                        [](const Arg& arg) { return arg.kind == ArgKind::kByCommand; });
    if (row.commands == Commands::kNone) {
      EXPECT_FALSE(by_command);
      EXPECT_EQ(row.command_arg, kNoArg);
      EXPECT_NE(row.creates, Creates::kByCommand);
      return;
    }
    used.insert(row.commands);
    ASSERT_LT(row.command_arg, row.arg_count);
    EXPECT_EQ(row.args[row.command_arg].kind, ArgKind::kCommand);
    EXPECT_GT(command_table(row.commands).count, 0u);
    for (int i = 0; i < kMaxArgs; ++i) {
      if (row.args[i].kind == ArgKind::kByCommand) {
        EXPECT_GE(i, first_command_arg(row.commands));
      }
    }
  });
  EXPECT_EQ(used.size(), 15u);
}

// Decisions that others build on (docs of the engine, DESIGN 3.3).
TEST(SyscallTable, ClassesOfCallsThatTheEngineKnows) {
  for (const int number :
       {__NR_getpid, __NR_gettid, __NR_clock_gettime, __NR_gettimeofday, __NR_time, __NR_futex,
        __NR_sched_yield, __NR_set_robust_list, __NR_set_tid_address, __NR_getcpu}) {
    EXPECT_EQ(find(number)->klass, Class::kAnswered) << name(number);
  }
  for (const int number : {__NR_rseq, __NR_clone3, __NR_io_setup, __NR_io_submit, __NR_io_uring_setup,
                           __NR_userfaultfd, __NR_modify_ldt, __NR_memfd_secret}) {
    EXPECT_EQ(find(number)->klass, Class::kRefused) << name(number);
    EXPECT_EQ(find(number)->error, ENOSYS) << name(number);
  }
  for (const int number :
       {__NR_mmap, __NR_munmap, __NR_mprotect, __NR_mremap, __NR_brk, __NR_process_vm_writev}) {
    EXPECT_EQ(find(number)->subject, Subject::kMemory) << name(number);
  }
  for (const int number : {__NR_read, __NR_write, __NR_accept, __NR_connect, __NR_poll, __NR_epoll_wait,
                           __NR_nanosleep, __NR_flock, __NR_msgrcv, __NR_semop}) {
    EXPECT_EQ(find(number)->klass, Class::kMayBlock) << name(number);
  }
}

// signal(7), "Interruption of system calls and library functions by signal handlers".
TEST(SyscallTable, RestartRulesOfTheManual) {
  for (const int number :
       {__NR_read, __NR_readv, __NR_write, __NR_writev, __NR_ioctl, __NR_open, __NR_wait4, __NR_waitid,
        __NR_flock, __NR_mq_timedreceive, __NR_mq_timedsend, __NR_getrandom}) {
    EXPECT_EQ(find(number)->restart, Restart::kWithSaRestart) << name(number);
  }
  for (const int number :
       {__NR_accept, __NR_connect, __NR_recvfrom, __NR_recvmsg, __NR_sendto, __NR_sendmsg}) {
    EXPECT_EQ(find(number)->restart, Restart::kWithSaRestartNoTimeout) << name(number);
  }
  for (const int number : {__NR_pause, __NR_rt_sigsuspend, __NR_rt_sigtimedwait, __NR_epoll_wait,
                           __NR_epoll_pwait, __NR_poll, __NR_ppoll, __NR_select, __NR_pselect6, __NR_msgrcv,
                           __NR_msgsnd, __NR_semop, __NR_semtimedop, __NR_clock_nanosleep, __NR_nanosleep}) {
    const Restart restart = find(number)->restart;
    EXPECT_TRUE(restart == Restart::kNoHandler || restart == Restart::kRestartBlock ||
                restart == Restart::kNever)
        << name(number);
  }
}

}  // namespace
}  // namespace detrec::syscalls
