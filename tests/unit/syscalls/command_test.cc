// The command tables in themselves, and against the kernel headers of this machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <set>
#include <string>

#include "tests/unit/syscalls/arg_checks.h"
#include "tests/unit/syscalls/header_constants.h"
#include "trace/syscalls/commands.h"

namespace detrec::syscalls {
namespace {

constexpr Commands kAllTables[] = {
    Commands::kIoctl,      Commands::kFcntl,  Commands::kPrctl,  Commands::kArchPrctl, Commands::kSetsockopt,
    Commands::kGetsockopt, Commands::kFutex,  Commands::kKeyctl, Commands::kMadvise,   Commands::kQuotactl,
    Commands::kShmctl,     Commands::kSemctl, Commands::kMsgctl, Commands::kPtrace,    Commands::kBpf,
};

template <typename Check>
void for_each_command(Check check) {
  for (const Commands table : kAllTables) {
    const CommandTable rows = command_table(table);
    for (std::size_t i = 0; i < rows.count; ++i) {
      SCOPED_TRACE(rows.rows[i].name);
      check(table, rows.rows[i]);
    }
  }
}

TEST(CommandTables, AreSortedAndFoundByKey) {
  for (const Commands table : kAllTables) {
    const CommandTable rows = command_table(table);
    ASSERT_GT(rows.count, 0u);
    for (std::size_t i = 0; i < rows.count; ++i) {
      if (i > 0) {
        EXPECT_LT(rows.rows[i - 1].key, rows.rows[i].key) << rows.rows[i].name;
      }
      EXPECT_EQ(find_command(table, rows.rows[i].key), &rows.rows[i]) << rows.rows[i].name;
    }
  }
}

TEST(CommandTables, RefusalsHaveErrors) {
  for_each_command([](Commands, const CommandRow& row) {
    EXPECT_EQ(row.name[sizeof(row.name) - 1], '\0');
    EXPECT_NE(row.name[0], '\0');
    EXPECT_EQ(row.klass == Class::kSpecial, row.subject != Subject::kNone);
    if (row.klass == Class::kRefused) {
      EXPECT_GT(row.error, 0);
    } else if (row.klass != Class::kSpecial) {
      EXPECT_EQ(row.error, 0);
    }
  });
}

// Each command's arguments in the place of those of its call.
TEST(CommandTables, LengthsReferToLengths) {
  std::set<Commands> seen;
  for (std::size_t i = 0; i < row_count(); ++i) {
    const SyscallRow& call = row_at(i);
    if (call.commands == Commands::kNone) continue;
    seen.insert(call.commands);
    const CommandTable rows = command_table(call.commands);
    const std::size_t first = first_command_arg(call.commands);
    for (std::size_t j = 0; j < rows.count; ++j) {
      SCOPED_TRACE(std::string(call.name) + " " + rows.rows[j].name);
      std::array<Arg, kMaxArgs> all;
      std::copy(std::begin(call.args), std::end(call.args), all.begin());
      for (std::size_t k = 0; k < kMaxCommandArgs; ++k) {
        const Arg& arg = rows.rows[j].args[k];
        if (arg.kind == ArgKind::kNone) continue;
        EXPECT_NE(arg.kind, ArgKind::kByCommand);
        ASSERT_LT(first + k, all.size());
        EXPECT_EQ(call.args[first + k].kind, ArgKind::kByCommand);
        all[first + k] = arg;
      }
      for (const Arg& arg : all) test::check_arg(arg, all);
    }
  }
  EXPECT_EQ(seen.size(), std::size(kAllTables));
}

// The direction and size fields of an encoded request are the header's; the row may know better, but rarely.
TEST(CommandTables, EncodedIoctlRequestsAgreeWithTheirRows) {
  const std::set<std::string> known_to_differ = {
      // The argument is a value, or there is none.
      "TIOCSIG", "FICLONE", "FIFREEZE", "FITHAW", "INOTIFY_IOC_SETNEXTWD", "NS_GET_PID_FROM_PIDNS",
      "NS_GET_TGID_FROM_PIDNS", "NS_GET_PID_IN_PIDNS", "NS_GET_TGID_IN_PIDNS", "TUNSETPERSIST", "TUNSETOWNER",
      "TUNSETGROUP", "TUNSETOFFLOAD", "RTC_IRQP_SET", "RTC_EPOCH_SET", "WDIOC_KEEPALIVE", "EVIOCRMFF",
      "EVIOCGRAB", "EVIOCREVOKE",
      // Another size: an int where the header says long or size_t, a struct ifreq where it says int.
      "FS_IOC_GETFLAGS", "FS_IOC_SETFLAGS", "FS_IOC_GETVERSION", "FS_IOC_SETVERSION", "BLKBSZGET",
      "BLKBSZSET", "TUNSETIFF", "TUNGETIFF", "TUNSETQUEUE",
      // Another direction.
      "FS_IOC_SET_ENCRYPTION_POLICY", "FS_IOC_GET_ENCRYPTION_PWSALT", "FS_IOC_GET_ENCRYPTION_POLICY",
      "RTC_PARAM_GET", "WDIOC_SETOPTIONS", "EVIOCGKEYCODE", "EVIOCGKEYCODE_V2", "EVIOCSFF", "EVIOCGMTSLOTS"};
  int compared = 0;
  for_each_command([&](Commands table, const CommandRow& row) {
    if (table != Commands::kIoctl || (!ioctl_reads(row.key) && !ioctl_writes(row.key))) return;
    const Arg& arg = row.args[0];
    if (known_to_differ.count(row.name) != 0 || arg.length == Length::kNested ||
        arg.length == Length::kRequest)
      return;
    if (row.klass == Class::kRefused && arg.kind == ArgKind::kAddress) return;
    EXPECT_EQ(arg.size, ioctl_size(row.key));
    EXPECT_EQ(arg.kind == ArgKind::kIn || arg.kind == ArgKind::kInOut, ioctl_reads(row.key));
    EXPECT_EQ(arg.kind == ArgKind::kOut || arg.kind == ArgKind::kInOut, ioctl_writes(row.key));
    ++compared;
  });
  EXPECT_GT(compared, 60);
}

TEST(CommandTables, KeysAreTheHeaders) {
  std::size_t compared = 0;
  for (const test::HeaderConstant& constant : test::header_constants()) {
    // The header's sizes of struct-dependent requests have the size field; rows for any size do not.
    const CommandRow* row = find_command(constant.table, constant.key);
    ASSERT_NE(row, nullptr) << constant.name;
    EXPECT_STREQ(row->name, constant.name);
    ++compared;
  }
  EXPECT_GT(compared, 600u);
}

TEST(CommandTables, SizesAreTheHeaders) {
  for (const test::HeaderSize& each : test::header_sizes()) {
    const CommandRow* row = find_command(each.table, each.key);
    ASSERT_NE(row, nullptr) << each.name;
    EXPECT_EQ(row->args[0].size, each.size) << each.name;
  }
}

TEST(FindCommand, UsesTheArgumentsThatSelect) {
  const std::uint64_t ioctl_args[kMaxArgs] = {0, 0xffffffff00005401, 0x1000};
  EXPECT_STREQ(find_command(*find(16), ioctl_args)->name, "TCGETS");  // the upper half is ignored
  const std::uint64_t option[kMaxArgs] = {3, 6, 1, 0x1000, 4};
  EXPECT_STREQ(find_command(*find(54), option)->name, "TCP_NODELAY");
  const std::uint64_t futex[kMaxArgs] = {0x1000, 0 | 0x80 | 0x100, 1};
  EXPECT_STREQ(find_command(*find(202), futex)->name, "FUTEX_WAIT");
  const std::uint64_t quota[kMaxArgs] = {0x80000701, 0, 0, 0x1000};  // QCMD(Q_GETQUOTA, GRPQUOTA)
  EXPECT_STREQ(find_command(*find(179), quota)->name, "Q_GETQUOTA");
}

TEST(FindCommand, FamiliesAndAnySize) {
  EXPECT_STREQ(find_command(Commands::kIoctl, 0x81004506)->name, "evdev");           // EVIOCGNAME(256)
  EXPECT_STREQ(find_command(Commands::kIoctl, 0xc040ff0b)->name, "PIDFD_GET_INFO");  // 64 bytes
  EXPECT_STREQ(find_command(Commands::kIoctl, 0xc050ff0b)->name, "PIDFD_GET_INFO");  // 80 bytes
  EXPECT_EQ(find_command(Commands::kIoctl, 0xc0106440)->klass,
            Class::kRefused);                                                 // a driver's own rendering call
  EXPECT_STREQ(find_command(Commands::kIoctl, 0x5603)->name, "VT_GETSTATE");  // not of the video family
}

TEST(FindCommand, UnknownCommands) {
  EXPECT_EQ(find_command(Commands::kIoctl, 0xc0287163), nullptr);
  EXPECT_EQ(find_command(Commands::kIoctl, 0x4599), nullptr);  // old form: no direction, so no family
  EXPECT_EQ(find_command(Commands::kFcntl, 9999), nullptr);
  EXPECT_EQ(find_command(Commands::kGetsockopt, 999), nullptr);
  EXPECT_EQ(unknown_error(Commands::kIoctl), ENOTTY);
  EXPECT_EQ(unknown_error(Commands::kGetsockopt), ENOPROTOOPT);
  EXPECT_EQ(unknown_error(Commands::kPrctl), EINVAL);
  EXPECT_EQ(unknown_error(Commands::kFutex), ENOSYS);
  EXPECT_EQ(unknown_error(Commands::kMadvise), EINVAL);
  EXPECT_NE(guessed_command(Commands::kIoctl), nullptr);
  EXPECT_EQ(guessed_command(Commands::kFcntl), nullptr);
}

}  // namespace
}  // namespace detrec::syscalls
