#include "tests/unit/signal/fake_engine.h"

#include <gtest/gtest.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/guest/base/print.h"
#include "trace/guest/base/probe.h"
#include "trace/guest/events/divergence.h"
#include "trace/guest/events/exchange.h"
#include "trace/guest/memory/guest_memory.h"
#include "trace/guest/process.h"
#include "trace/guest/run/cpu_model.h"
#include "trace/guest/translate/translator.h"

namespace detrec::guest {

Process& process() {
  static Process instance;
  return instance;
}

wire::EngineStats& statistics() {
  static wire::EngineStats instance;
  return instance;
}

void panic(const char* file, int line, const char* fmt, ...) {
  va_list args;
  va_start(args, fmt);
  fprintf(stderr, "panic at %s:%d: ", file, line);
  vfprintf(stderr, fmt, args);
  fputc('\n', stderr);
  _exit(125);
}

void warn(const char*, ...) {}

void* engine_reserve(u64 bytes) {
  return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}
void* engine_reserve_stack(u64 bytes) { return engine_reserve(bytes); }

Turn TurnSchedule::acquire(Thread& thread) {
  context().thread = &thread;
  return held();
}
void TurnSchedule::release(Turn&, TurnWhy) { context().thread = nullptr; }

namespace memory {
bool write_guest(Turn&, GuestAddr to, const void* from, u64 n) {
  return probe_copy(reinterpret_cast<void*>(to), from, n) == 0;
}
}  // namespace memory

namespace translate {
/// Generated code at kCacheBegin + n stands for guest code at 0x40'0000 + n.
bool locate(u64 cache_pc, CachePosition& position) {
  position.pc = cache_pc - kCacheBegin + 0x40'0000;
  return true;
}
}  // namespace translate

namespace run {
u64 guest_xcr0() {
  u32 lo, hi;
  asm volatile("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
  return static_cast<u64>(hi) << 32 | lo;
}

void request_exit(u64, u64*) { ++test::fake_run().exits_requested; }

bool recover_guest_state(u64 host_pc, const u64 host_gpr[16], u64 host_rflags) {
  for (int i = 0; i < 16; ++i) context().regs.gpr[i] = host_gpr[i];
  context().regs.rflags = host_rflags;
  translate::CachePosition position;
  translate::locate(host_pc, position);
  context().regs.pc = position.pc;
  return true;
}

FaultAction classify_fault(Turn&, int, u64& fault_address, bool write, u64) {
  test::fake_run().fault_address = fault_address;
  test::fake_run().fault_was_write = write;
  return test::fake_run().answer;
}
}  // namespace run

// Nothing is recorded or replayed here.
namespace events {
const wire::EventHeader& next_event(Turn&) { abort(); }
void exchange_signal(Turn&, SignalInfo&, bool) {}
void exchange_exit(Turn&, wire::ExitCause, i32) {}
}  // namespace events

u64 Turn::ticks() const { return 0; }

namespace test {
namespace {

jmp_buf back_from_cache;

void* map_at(u64 address, u64 size, int prot) {
  void* at = mmap(reinterpret_cast<void*>(address), size, prot,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) {
    perror("mmap of the engine's place");
    _exit(1);
  }
  return at;
}

}  // namespace

FakeRun& fake_run() {
  static FakeRun instance;
  return instance;
}

FakeEngine::FakeEngine() {
  map_at(kContextAddress, kPageSize, PROT_READ | PROT_WRITE);
  Context& c = context();
  c.thread = &thread_;
  constexpr u64 kStackSize = 64 * 1024;
  c.engine_rsp = reinterpret_cast<u64>(engine_reserve(kStackSize)) + kStackSize - 64;
  thread_.pid = thread_.tid = getpid();
  process().threads = &thread_;
  process().thread_count = 1;
  signal::start(turn_);
  auto* guest_stack = static_cast<u8*>(engine_reserve(kStackSize));
  for (u64 i = 0; i < 16; ++i) c.regs.gpr[i] = 0x1000 + i;
  c.regs.gpr[kRsp] = reinterpret_cast<u64>(guest_stack) + kStackSize - 512;
  c.regs.rflags = 0x202;
  c.regs.pc = kPc;
}

SysResult FakeEngine::set_action(int signo, u64 handler, u64 flags, signal::SignalSet mask) {
  signal::Action action;
  action.handler = handler;
  action.flags = flags | signal::kSaRestorer;
  action.restorer = kRestorer;
  action.mask = mask;
  return signal::rt_sigaction(turn_, signo, reinterpret_cast<u64>(&action), 0, 8);
}

SysResult FakeEngine::set_mask(signal::SignalSet mask) {
  return signal::rt_sigprocmask(turn_, signal::kSetMask, reinterpret_cast<u64>(&mask), 0, 8);
}

void FakeEngine::finish_syscall(long nr, SysResult result) {
  state().syscall_nr = nr;
  turn_.set_result(result);
  if (signal::deliverable(turn_)) signal::deliver_pending(turn_);
}

void FakeEngine::return_from_handler() {
  regs().gpr[kRsp] += 8;
  regs().pc = kRestorer;
  state().syscall_nr = 15;
  signal::rt_sigreturn(turn_);
  if (signal::deliverable(turn_)) signal::deliver_pending(turn_);
}

extern "C" void fake_fault_entry() {
  context().in_guest = 0;
  longjmp(back_from_cache, 1);
}

void run_in_cache(const u8* code, u64 size) {
  constexpr u64 kBytes = 16 * kPageSize;
  auto* cache = static_cast<u8*>(map_at(kCacheBegin, kBytes, PROT_READ | PROT_WRITE | PROT_EXEC));
  for (u64 i = 0; i < size; ++i) cache[i] = code[i];
  context().in_guest = 1;
  if (setjmp(back_from_cache) == 0) reinterpret_cast<void (*)()>(kCacheBegin)();
  munmap(cache, kBytes);
}

int in_child(const std::function<void()>& body) {
  fflush(nullptr);
  pid_t child = fork();
  if (child == 0) {
    alarm(20);
    body();
    fflush(nullptr);
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

}  // namespace test
}  // namespace detrec::guest

// Entered by a jump with rsp = Context::engine_rsp, as the real one.
asm(R"(
  .text
  .globl fault_entry
fault_entry:
  call fake_fault_entry
  ud2
)");
