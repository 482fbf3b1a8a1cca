#include <asm/errno.h>
#include <asm/unistd_64.h>
#include <linux/mman.h>

#include "trace/guest/base/print.h"
#include "trace/guest/base/probe.h"
#include "trace/guest/base/string.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/debug/debugger.h"
#include "trace/guest/divert/clocks.h"
#include "trace/guest/events/calls.h"
#include "trace/guest/events/divergence.h"
#include "trace/guest/events/input_hash.h"
#include "trace/guest/events/mappings.h"
#include "trace/guest/events/record.h"
#include "trace/guest/memory/guest_map.h"
#include "trace/guest/memory/guest_memory.h"
#include "trace/guest/process.h"
#include "trace/guest/run/accounts.h"
#include "trace/guest/run/replayed_turns.h"
#include "trace/guest/run/ticks.h"
#include "trace/guest/signal/signals.h"
#include "trace/guest/syscall/ranges.h"

namespace detrec::guest::events {
namespace {

struct Call {
  i32 number;
  syscall::Args args;
  u32 input_hash;
};

const char* name_of(i32 number) {
  const syscalls::SyscallRow* row = syscalls::find(number);
  return row != nullptr ? row->name : "unknown";
}

/// The call's event, which must fit what the program asks for.
const wire::EventHeader& expect_call(Turn& turn, const Call& call) {
  const wire::EventHeader& event = expect_event(turn, wire::EventKind::kSyscall);
  const auto& body = body_of<wire::SyscallBody>(event);
  if (body.number != call.number)
    diverge(turn, "the program calls %s; recorded: %s", name_of(call.number), name_of(body.number));
  for (int i = 0; i < 6; ++i) {
    if (body.args[i] == call.args[i]) continue;
    diverge(turn, "%s with argument %d = 0x%lx; recorded: 0x%lx", name_of(call.number), i, call.args[i],
            body.args[i]);
  }
  if (body.input_hash != call.input_hash)
    diverge(turn, "%s passes other data in memory than recorded", name_of(call.number));
  return event;
}

/// What leaves the guest is shown as it was recorded: it must be what the guest has.
void check_output(Turn& turn, const wire::RangeHeader& range, const u8* data) {
  u8 now[1024];
  for (u64 done = 0; done < range.size;) {
    u64 piece = range.size - done < sizeof now ? range.size - done : sizeof now;
    if (!read_guest(now, range.address + done, piece) || memcmp(now, data + done, piece) != 0)
      diverge(turn, "the program's output is not the recorded one");
    done += piece;
  }
}

void write_range(Turn& turn, const wire::RangeHeader& range, const void* data) {
  if (range.size == 0) return;
  if (range.direction != wire::Direction::kIn) return check_output(turn, range, static_cast<const u8*>(data));
  if (!memory::write_recorded(turn, range.address, data, range.size))
    diverge(turn, "recorded data for 0x%lx cannot be written there", range.address);
}

/// Writes what the call wrote, and takes the event with its kData records.
void apply_ranges(Turn& turn, const wire::EventHeader& event) {
  const auto& body = body_of<wire::SyscallBody>(event);
  const u8* at = reinterpret_cast<const u8*>(&body + 1);
  for (u32 i = 0; i < body.range_count; ++i) {
    const auto& range = *reinterpret_cast<const wire::RangeHeader*>(at);
    write_range(turn, range, &range + 1);
    at += sizeof range + ((range.size + 7) & ~7u);
  }
  bool more = (event.flags & wire::kMoreData) != 0;
  take_event();
  while (more) {
    const wire::EventHeader& data = next_event(turn);
    if (data.kind != wire::EventKind::kData) diverge(turn, "the recording lacks data of an event");
    const auto& range = body_of<wire::DataBody>(data).range;
    write_range(turn, range, &range + 1);
    more = (data.flags & wire::kMoreData) != 0;
    take_event();
  }
}

/// Calls about what the engine keeps itself.
bool is_served_again(i32 number) {
  switch (number) {
    case __NR_mmap:
    case __NR_munmap:
    case __NR_mprotect:
    case __NR_pkey_mprotect:
    case __NR_mremap:
    case __NR_brk:
    case __NR_madvise:
    case __NR_shmat:
    case __NR_shmdt:
    case __NR_rt_sigaction:
    case __NR_rt_sigprocmask:
    case __NR_sigaltstack:
    case __NR_arch_prctl:
    case __NR_set_tid_address:
    case __NR_set_robust_list:
      return true;
    default:
      return false;
  }
}

/// mmap at the recorded place; a file's mapping has come with an event of its own.
SysResult map_again(Turn& turn, const Call& call, SysResult recorded) {
  const syscall::Args& a = call.args;
  auto flags = static_cast<u32>(a[3]);
  if ((flags & MAP_ANONYMOUS) == 0) return recorded;  // serve_again
  auto at = static_cast<GuestAddr>(recorded);
  u64 length = a[1];
  if ((flags & MAP_HUGETLB) != 0) {
    u64 page = memory::huge_page_size(flags);
    length = (length + page - 1) & ~(page - 1);
    flags &= ~static_cast<u32>(MAP_HUGETLB);
  }
  if ((flags & MAP_TYPE) != MAP_PRIVATE)
    return memory::map_recorded_anonymous(turn, at, length, static_cast<u32>(a[2]), flags);
  if ((flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) == 0) flags |= MAP_FIXED_NOREPLACE;
  return memory::mmap(turn, at, length, static_cast<u32>(a[2]), flags, -1, 0);
}

/// Else ENOMEM came from a limit, which a replay does not have.
bool has_hole(GuestAddr begin, u64 length) {
  for (GuestAddr at = begin; at < begin + length;) {
    const memory::Mapping* m = memory::find(at);
    if (m == nullptr) return true;
    at = m->end;
  }
  return false;
}

/// Calls that fail in the middle have done what comes before.
bool has_effect(const Call& call, SysResult recorded) {
  switch (call.number) {
    case __NR_brk:  // its result is the break as it is
      return static_cast<u64>(recorded) == call.args[0];
    case __NR_mprotect:
    case __NR_pkey_mprotect:
      return !failed(recorded) || (recorded == -ENOMEM && has_hole(call.args[0], call.args[1]));
    case __NR_madvise:
      return !failed(recorded) || recorded == -ENOMEM || recorded == -EINVAL;
    default:
      return !failed(recorded);
  }
}

SysResult effect_of(Turn& turn, const Call& call, SysResult recorded, SysResult (*serve)(Turn&, i32)) {
  if (call.number == __NR_brk && !has_effect(call, recorded))
    return static_cast<SysResult>(memory::image_places().brk);
  if (!has_effect(call, recorded)) return recorded;
  switch (call.number) {
    case __NR_mmap:
      return map_again(turn, call, recorded);
    case __NR_shmat:
      return recorded;  // done by its mapping event
    case __NR_madvise:
      // Advice that changes no content is for the kernel that it was given to; and this machine's pages are
      // good.
      return call.args[2] != MADV_HWPOISON && memory::changes_content(static_cast<i32>(call.args[2]))
                 ? serve(turn, call.number)
                 : recorded;
    default: {
      memory::force_place(static_cast<u64>(recorded));
      SysResult result = serve(turn, call.number);
      memory::force_place(0);
      return result;
    }
  }
}

SysResult serve_again(Turn& turn, const Call& call, SysResult (*serve)(Turn&, i32)) {
  bool maps = call.number == __NR_mmap || call.number == __NR_shmat;
  GuestAddr mapped = 0;
  if (maps && next_event(turn).kind == wire::EventKind::kMapping) {
    expect_event(turn, wire::EventKind::kMapping);
    mapped = replay_mapping(turn);
  }
  const wire::EventHeader& event = expect_call(turn, call);
  SysResult recorded = body_of<wire::SyscallBody>(event).result;
  bool of_file = call.number == __NR_shmat || (maps && (call.args[3] & MAP_ANONYMOUS) == 0);
  if (of_file && mapped != (failed(recorded) ? 0 : static_cast<GuestAddr>(recorded)))
    diverge(turn, "the recorded mapping is at 0x%lx; the call gave %ld", mapped, recorded);
  SysResult result = effect_of(turn, call, recorded, serve);
  if (result != recorded)
    diverge(turn, "%s gives %ld; recorded: %ld", name_of(call.number), result, recorded);
  apply_ranges(turn, event);
  return result;
}

/// The image that the recorded execve started: a fresh engine takes the events that follow.
[[noreturn]] void start_next_image(Turn& turn) {
  char launch_fd[16];
  format(launch_fd, sizeof launch_fd, "%d", process().own_fds[kLaunchFd]);
  run::account_exec(turn);
  if (debug::attached) debug::prepare_exec(process().own_fds[kLaunchFd]);
  const char* argv[] = {"detrec-guest", launch_fd, "", "", nullptr};
  const char* envp[] = {nullptr};
  constexpr u64 kEmptyPath = 0x1000;
  u64 none = 0;
  raw_syscall(__NR_rt_sigprocmask, 2, arg(&none), 0, sizeof none);
  SysResult r = raw_syscall(__NR_execveat, static_cast<u64>(process().own_fds[kImageFd]), arg(""), arg(argv),
                            arg(envp), kEmptyPath);
  diverge(turn, "the engine cannot be started again: error %ld", -r);
}

/// An execve that got as far as the kernel; returns when it failed there.
void replay_exec(Turn& turn) {
  const wire::EventHeader& event = next_event(turn);
  if (event.kind != wire::EventKind::kExit) return;
  if (body_of<wire::ExitBody>(expect_event(turn, wire::EventKind::kExit)).cause != wire::ExitCause::kExec)
    diverge(turn, "the program executes another; recorded: it ends");
  take_event();
  wire::EventKind next = next_event(turn).kind;
  if (next == wire::EventKind::kMapping || next == wire::EventKind::kStart) start_next_image(turn);
}

/// How far the stack may grow is the kernel's to decide in a replay too.
void set_stack_limit(const Call& call) {
  constexpr u64 kRlimitStack = 3;
  bool plain = call.number == __NR_setrlimit;
  if (!plain && call.number != __NR_prlimit64) return;
  u64 resource = plain ? call.args[0] : call.args[1];
  GuestAddr given = plain ? call.args[1] : call.args[2];
  auto pid = plain ? 0 : static_cast<i32>(call.args[0]);
  struct {
    u64 soft, hard;
  } wanted, now;
  if (resource != kRlimitStack || given == 0 || (pid != 0 && pid != process().pid) ||
      !read_guest(wanted, given))
    return;
  raw_syscall(__NR_prlimit64, 0, kRlimitStack, 0, arg(&now));
  now.soft = wanted.soft < now.hard ? wanted.soft : now.hard;
  raw_syscall(__NR_prlimit64, 0, kRlimitStack, arg(&now), 0);
}

}  // namespace

SysResult replay_call(Turn& turn, i32 number, SysResult (*serve)(Turn&, i32)) {
  if (number == __NR_exit || number == __NR_exit_group) return serve(turn, number);
  Call call{number, known_arguments(turn, number), 0};
  syscalls::Before before;
  syscalls::capture_before(number, call.args.value, syscall::guest_reader(), before);
  call.input_hash = input_hash(number, call.args, before);
  while (run::turn_passes_in_call(turn)) {
    if (number == __NR_futex) syscall::mark_contended(turn, call.args);
    run::pass_turn(turn);
  }
  if (number == __NR_execve || number == __NR_execveat) replay_exec(turn);
  if (is_served_again(number)) return serve_again(turn, call, serve);
  if (next_event(turn).kind == wire::EventKind::kMapping) replay_shorter_file(turn);
  wire::EventKind next = next_event(turn).kind;
  if (number == __NR_clone && next == wire::EventKind::kThread) {
    SysResult result = serve(turn, number);
    SysResult recorded = body_of<wire::SyscallBody>(expect_call(turn, call)).result;
    if (result != recorded) diverge(turn, "clone gives %ld; recorded: %ld", result, recorded);
    take_event();
    return result;
  }
  const wire::EventHeader& event = expect_call(turn, call);
  SysResult result = body_of<wire::SyscallBody>(event).result;
  apply_ranges(turn, event);
  if (result == 0) {
    set_stack_limit(call);
    divert::note_clock_call(number, call.args);
  }
  if (result == -EINTR || signal::is_restart_code(result)) signal::keep_mask_of_call(turn, number);
  return result;
}

void exchange_sigreturn(Turn& turn) {
  if (recording()) {
    Record record(turn, wire::EventKind::kSyscall);
    record.append<wire::SyscallBody>().number = __NR_rt_sigreturn;
    record.commit();
  } else if (replaying() && !diverted) {
    const wire::EventHeader& event = expect_event(turn, wire::EventKind::kSyscall);
    if (body_of<wire::SyscallBody>(event).number != __NR_rt_sigreturn)
      diverge(turn, "the program calls rt_sigreturn; recorded: another call");
    take_event();
  }
}

}  // namespace detrec::guest::events
