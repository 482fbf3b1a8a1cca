// What must hold for an argument among the arguments of a call.
#pragma once

#include <gtest/gtest.h>

#include <array>

#include "trace/syscalls/table.h"

namespace detrec::syscalls::test {

inline bool is_length(ArgKind kind) {
  return kind == ArgKind::kSize || kind == ArgKind::kSize32 || kind == ArgKind::kCount ||
         kind == ArgKind::kWord || kind == ArgKind::kUnsigned || kind == ArgKind::kInt;
}

inline void check_arg(const Arg& arg, const std::array<Arg, kMaxArgs>& all) {
  EXPECT_EQ(arg.is_memory(), arg.length != Length::kNone);
  switch (arg.length) {
    case Length::kArg:
    case Length::kMinArgResult:
    case Length::kIovec:
    case Length::kMmsghdr:
      EXPECT_GT(arg.size, 0);
      [[fallthrough]];
    case Length::kIfFits:
    case Length::kFdSet:
    case Length::kNodeMask:
    case Length::kPages:
    case Length::kPollfd:
    case Length::kXattrArgs:
      ASSERT_LT(arg.ref, kMaxArgs);
      EXPECT_TRUE(is_length(all[arg.ref].kind));
      return;
    case Length::kPointee:
      ASSERT_LT(arg.ref, kMaxArgs);
      EXPECT_EQ(all[arg.ref].kind, ArgKind::kLengthInOut);
      return;
    case Length::kSelfSize:
      if (arg.ref == kNoArg) return;
      ASSERT_LT(arg.ref, kMaxArgs);
      EXPECT_TRUE(is_length(all[arg.ref].kind));
      return;
    case Length::kFixed:
      EXPECT_GT(arg.size, 0);
      break;
    default:
      break;
  }
  EXPECT_EQ(arg.ref, kNoArg);
}

}  // namespace detrec::syscalls::test
