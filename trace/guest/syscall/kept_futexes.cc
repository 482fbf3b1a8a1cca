#include "trace/guest/syscall/kept_futexes.h"

#include <asm/errno.h>
#include <linux/futex.h>

#include "trace/guest/base/probe.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/events/mappings.h"
#include "trace/guest/memory/guest_map.h"
#include "trace/guest/memory/guest_memory.h"
#include "trace/guest/run/granted_turns.h"
#include "trace/guest/syscall/blocking.h"
#include "trace/guest/syscall/host_clock.h"
#include "trace/guest/translate/code_pages.h"

namespace detrec::guest::syscall {
namespace {

constexpr u32 kEveryWaiter = FUTEX_BITSET_MATCH_ANY;

u64 command_of(const Args& args) { return args[1] & static_cast<u64>(FUTEX_CMD_MASK); }
bool is_private(const Args& args) { return (args[1] & FUTEX_PRIVATE_FLAG) != 0; }

/// As the kernel counts: it has woken somebody before it looks at the limit.
u32 wake_limit(u64 count) {
  auto limit = static_cast<i32>(count);
  return limit < 1 ? 1 : static_cast<u32>(limit);
}

SysResult wait(Turn& turn, const Args& args) {
  bool with_mask = command_of(args) == FUTEX_WAIT_BITSET;
  auto mask = with_mask ? static_cast<u32>(args[5]) : kEveryWaiter;
  if ((args[1] & FUTEX_CLOCK_REALTIME) != 0 && !with_mask) return error(ENOSYS);
  Timespec timeout;
  if (args[3] != 0) {
    if (!read_guest(timeout, args[3])) return error(EFAULT);
    if (!is_valid(timeout)) return error(EINVAL);
  }
  if (mask == 0) return error(EINVAL);
  u32 value;
  if (!read_guest(value, args[0])) return error(EFAULT);
  if (value != static_cast<u32>(args[2])) return error(EAGAIN);
  if (alone()) return kernel_wait(turn, __NR_futex, args);  // only a signal or the clock can end it
  u64 operation = command_of(args) | (args[1] & FUTEX_CLOCK_REALTIME);
  return TurnSchedule::sleep_at_futex(turn, {args[0], mask, operation, args[3] != 0 ? &timeout : nullptr});
}

SysResult wake(Turn& turn, const Args& args) {
  u32 mask = command_of(args) == FUTEX_WAKE_BITSET ? static_cast<u32>(args[5]) : kEveryWaiter;
  if (mask == 0) return error(EINVAL);
  return run::wake_at_futex(turn, args[0], wake_limit(args[2]), mask);
}

SysResult requeue(Turn& turn, const Args& args) {
  auto count = static_cast<i32>(args[2]), move = static_cast<i32>(args[3]);
  if (count < 0 || move < 0) return error(EINVAL);
  if (command_of(args) == FUTEX_CMP_REQUEUE) {
    u32 value;
    if (!read_guest(value, args[0])) return error(EFAULT);
    if (value != static_cast<u32>(args[5])) return error(EAGAIN);
  }
  auto moved = static_cast<u32>(move), woken = static_cast<u32>(count);
  if (is_kept_futex(args[0], is_private(args)) && is_kept_futex(args[4], is_private(args)))
    return run::requeue_at_futex(turn, args[0], woken, args[4], moved);
  // From memory of its own to shared memory, or back: nobody moves from one table to the other, all wake up.
  u32 both = woken + moved;
  return both == 0 ? 0 : wake_futex(turn, args[0], is_private(args), both);
}

/// The operation of FUTEX_WAKE_OP, man 2 futex: `op` on the second word, then `cmp` on what was there.
struct WakeOp {
  explicit WakeOp(u64 code)
      : op(static_cast<u32>(code >> 28) & 7),
        cmp(static_cast<u32>(code >> 24) & 15),
        op_argument(signed_12(code >> 12)),
        cmp_argument(signed_12(code)) {
    constexpr u64 kShift = u64{1} << 31;
    if ((code & kShift) != 0) op_argument = static_cast<i32>(1u << (op_argument & 31));
  }
  static i32 signed_12(u64 bits) { return static_cast<i32>(static_cast<u32>(bits) << 20) >> 20; }

  bool known() const { return op <= FUTEX_OP_XOR && cmp <= FUTEX_OP_CMP_GE; }

  i32 apply(i32 old) const {
    auto a = static_cast<u32>(old), b = static_cast<u32>(op_argument);
    switch (op) {
      case FUTEX_OP_SET:
        return op_argument;
      case FUTEX_OP_ADD:
        return static_cast<i32>(a + b);
      case FUTEX_OP_OR:
        return static_cast<i32>(a | b);
      case FUTEX_OP_ANDN:
        return static_cast<i32>(a & ~b);
      default:
        return static_cast<i32>(a ^ b);
    }
  }

  bool holds(i32 old) const {
    switch (cmp) {
      case FUTEX_OP_CMP_EQ:
        return old == cmp_argument;
      case FUTEX_OP_CMP_NE:
        return old != cmp_argument;
      case FUTEX_OP_CMP_LT:
        return old < cmp_argument;
      case FUTEX_OP_CMP_LE:
        return old <= cmp_argument;
      case FUTEX_OP_CMP_GT:
        return old > cmp_argument;
      default:
        return old >= cmp_argument;
    }
  }

  u32 op, cmp;
  i32 op_argument, cmp_argument;
};

SysResult wake_op(Turn& turn, const Args& args) {
  WakeOp operation(args[5]);
  if (!operation.known()) return error(ENOSYS);
  GuestAddr second = args[4];
  if (!is_kept_futex(second, is_private(args))) {
    SysResult r = raw_syscall(__NR_futex, args[0], args[1], args[2], args[3], args[4], args[5]);
    events::note_memory_change(second, second + sizeof(u32));
    return failed(r) ? r : r + run::wake_at_futex(turn, args[0], wake_limit(args[2]), kEveryWaiter);
  }
  i32 old;
  if (!read_guest(old, second) || !memory::write_guest(turn, second, operation.apply(old)))
    return error(EFAULT);
  events::note_memory_change(second, second + sizeof old);
  SysResult woken = wake_futex(turn, args[0], is_private(args), wake_limit(args[2]));
  if (failed(woken) || !operation.holds(old)) return woken;
  return woken + run::wake_at_futex(turn, second, wake_limit(args[3]), kEveryWaiter);
}

}  // namespace

bool is_kept_futex(GuestAddr word, bool is_private) {
  if (!run::granting() || word == 0 || word % sizeof(u32) != 0) return false;
  if (is_private) return word < kUserEnd;
  const memory::Mapping* mapping = memory::find(word);
  return mapping != nullptr && !mapping->shared;
}

bool is_kept_call(const Args& args) {
  switch (command_of(args)) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET:
      return is_kept_futex(args[0], is_private(args));
    case FUTEX_REQUEUE:
    case FUTEX_CMP_REQUEUE:
    case FUTEX_WAKE_OP:
      return is_kept_futex(args[0], is_private(args)) || is_kept_futex(args[4], is_private(args));
    default:
      return false;
  }
}

SysResult kept_futex(Turn& turn, const Args& args) {
  switch (command_of(args)) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
      return wait(turn, args);
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET:
      return wake(turn, args);
    case FUTEX_REQUEUE:
    case FUTEX_CMP_REQUEUE:
      return requeue(turn, args);
    default:
      return wake_op(turn, args);
  }
}

SysResult wake_futex(Turn& turn, GuestAddr word, bool is_private, u32 count) {
  if (is_kept_futex(word, is_private)) return run::wake_at_futex(turn, word, count, kEveryWaiter);
  return raw_syscall(__NR_futex, word, FUTEX_WAKE | (is_private ? FUTEX_PRIVATE_FLAG : 0), count);
}

}  // namespace detrec::guest::syscall
