#include "trace/guest/syscall/warnings.h"

#include "trace/guest/process.h"

namespace detrec::guest::syscall {
namespace {

/// How the notices of the launch page are divided: the named ones, system call numbers, commands by hash.
constexpr u64 kNotices = 64;
constexpr u64 kNumbers = 512;
constexpr u64 kCommands = 256;
static_assert(kNotices + kNumbers + kCommands <= wire::kNotices);

bool first(u64 index) {
  return __atomic_exchange_n(&process().launch->said[index], 1, __ATOMIC_RELAXED) == 0;
}

}  // namespace

bool first_time(Notice notice) { return first(static_cast<u64>(notice)); }

bool first_time_for_syscall(u32 nr) { return nr < kNumbers && first(kNotices + nr); }

bool first_time_for_command(u32 nr, u64 command) {
  u64 mixed = (command * 0x9e37'79b9'7f4a'7c15 + nr) * 0x9e37'79b9'7f4a'7c15;
  return first(kNotices + kNumbers + (mixed >> 56));
}

}  // namespace detrec::guest::syscall
