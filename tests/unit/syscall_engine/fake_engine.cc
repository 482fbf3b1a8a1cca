#include "tests/unit/syscall_engine/fake_engine.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "trace/guest/base/arena.h"
#include "trace/guest/base/layout.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/events/exchange.h"
#include "trace/guest/memory/guest_memory.h"
#include "trace/guest/run/granted_turns.h"
#include "trace/guest/syscall/blocking.h"

namespace detrec::guest {

Process& process() {
  static Process instance;
  return instance;
}

wire::EngineStats& statistics() {
  static wire::EngineStats instance;
  return instance;
}

void* engine_reserve(u64 bytes) { return std::calloc(1, bytes); }
void engine_release(void* start, u64) { std::free(start); }

namespace memory {

bool write_guest(Turn&, GuestAddr to, const void* from, u64 n) {
  test::written.push_back({to, n});
  std::memcpy(reinterpret_cast<void*>(to), from, n);
  return true;
}

}  // namespace memory

namespace syscall {

SysResult execute(long nr, const Args& a) { return raw_syscall(nr, a[0], a[1], a[2], a[3], a[4], a[5]); }

SysResult direct(Turn& turn, const SyscallRow& row) { return execute(row.number, arguments(turn)); }

SysResult may_block(Turn& turn, const SyscallRow& row) { return direct(turn, row); }

SysResult kernel_wait(Turn&, long nr, const Args& args) {
  SysResult r = execute(nr, args);
  if (test::after_wait) test::after_wait();
  return r;
}

}  // namespace syscall

// Nobody grants turns here (run/granted_turns.h).
namespace run {
bool granting() { return false; }
bool turn_wanted() { return false; }
void give_up(Thread&, TurnWhy) {}
void await_grant(Thread&) {}
SysResult sleep_at_futex(Thread&, const FutexSleep&) { return 0; }
void forget_board() {}
}  // namespace run

namespace events {
void record_turn(const Thread&, const Thread&, wire::TurnReason) {}
}  // namespace events

namespace test {

std::function<void()> after_wait;
std::vector<Written> written;

void map_context() {
  static void* page = mmap(reinterpret_cast<void*>(kContextAddress), kPageSize, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  ASSERT_EQ(page, reinterpret_cast<void*>(kContextAddress));
}

HeldTurn::HeldTurn() : turn_(TurnSchedule::held()) {
  map_context();
  thread_.alive = 1;
  thread_.tid = thread_.pid = getpid();
  process().threads = &thread_;
  process().thread_count = 1;
  turn_ = TurnSchedule::acquire(thread_);
}

HeldTurn::~HeldTurn() {
  TurnSchedule::release(turn_);
  process() = Process{};
  std::free(thread_.bounce);
}

void HeldTurn::set_args(const syscall::Args& args) {
  static constexpr Reg kOrder[6] = {kRdi, kRsi, kRdx, kR10, kR8, kR9};
  for (int i = 0; i < 6; ++i) turn_.gpr(kOrder[i]) = args[i];
}

}  // namespace test
}  // namespace detrec::guest
