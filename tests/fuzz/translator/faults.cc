#include "tests/fuzz/translator/faults.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/fuzz/translator/areas.h"
#include "tests/fuzz/translator/code_memory.h"
#include "trace/guest/base/layout.h"
#include "trace/guest/decode/insn.h"

extern "C" char __executable_start[], _end[];  // the linker's

namespace detrec::fuzz {
namespace {

Outcome outcome;
u64 flags_seed = 0;
volatile bool running = false;
volatile int watchdog_rounds = 0;

constexpr std::size_t kMostFaults = 30;
constexpr int kWatchdogRounds = 10;
constexpr int kWatchdogMicroseconds = 60'000;

constexpr int kGregs[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                            REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

constexpr u64 kPageFault = 14;
constexpr u64 kXstateMagicOffset = 464;
constexpr u32 kXstateMagic = 0x46505853;  // FP_XSTATE_MAGIC1, asm/sigcontext.h

u8* vectors_of(ucontext_t& context) { return reinterpret_cast<u8*>(context.uc_mcontext.fpregs); }

VectorState vector_state(ucontext_t& context) {
  const u8* const xsave = vectors_of(context);
  u32 magic;
  u64 present;
  std::memcpy(&magic, xsave + kXstateMagicOffset, sizeof magic);
  std::memcpy(&present, xsave + kXsaveHeader, sizeof present);
  if (magic != kXstateMagic) present = 3;
  return normalized(xsave, present);
}

void note_fault(int signo, const siginfo_t& info, ucontext_t& context) {
  const auto& gregs = context.uc_mcontext.gregs;
  Fault fault{};
  fault.signo = signo;
  fault.code = info.si_code;
  fault.address = reinterpret_cast<u64>(info.si_addr);
  fault.trap = static_cast<u64>(gregs[REG_TRAPNO]);
  fault.error = static_cast<u64>(gregs[REG_ERR]);
  fault.pc = static_cast<u64>(gregs[REG_RIP]);
  fault.flags = static_cast<u64>(gregs[REG_EFL]) & ~(kStatusFlags & ~kCarryFlag) & ~kResumeFlag;
  for (int i = 0; i < 16; ++i) fault.gpr[i] = static_cast<u64>(gregs[kGregs[i]]);
  const VectorState state = vector_state(context);
  std::memcpy(fault.x87, state.legacy, sizeof fault.x87);
  fault.vectors = hash_bytes(&state, sizeof state);
  outcome.faults.push_back(fault);
}

/// The code goes on behind the instruction. False if it cannot.
bool skip(int signo, ucontext_t& context) {
  auto& gregs = context.uc_mcontext.gregs;
  u64 pc = static_cast<u64>(gregs[REG_RIP]);
  if (!is_code(pc) || outcome.faults.size() >= kMostFaults) return false;
  if (signo != SIGTRAP) {
    const auto* const code = reinterpret_cast<const u8*>(pc);
    std::size_t size = 0;
    while (size < guest::kMaxInsnLength && is_code(pc + size)) ++size;
    guest::Insn insn;
    if (guest::decode(code, size, insn) != guest::DecodeStatus::kOk) return false;
    pc += insn.length;
    if (!is_code(pc)) return false;
  }
  gregs[REG_RIP] = static_cast<greg_t>(pc);
  const u64 flags = mix(flags_seed + outcome.faults.size()) & kStatusFlags;
  constexpr u64 kAlignmentCheck = 0x40000;  // or everything from here on would fail
  gregs[REG_EFL] = static_cast<greg_t>(
      (static_cast<u64>(gregs[REG_EFL]) & ~kStatusFlags & ~kAlignmentCheck & ~kResumeFlag) | flags);
  if (signo == SIGFPE) {  // or the next instruction fails the same way
    const u16 control = 0x37f;
    const u32 mxcsr = 0x1f80;
    std::memcpy(vectors_of(context), &control, sizeof control);
    std::memcpy(vectors_of(context) + 24, &mxcsr, sizeof mxcsr);
  }
  return true;
}

/// Natively nothing is there (docs/engine.md, address space).
bool is_engine_memory(u64 address) {
  return (address >= guest::kLowCodeEnd && address < guest::kTableEnd) ||
         (address >= guest::kEngineHeapBegin && address < guest::kEngineHeapEnd);
}

/// A near return whose return address lies in two pages: the engine may meet the other page first.
bool is_straddling_return(const Fault& fault) {
  constexpr unsigned kLastWhole = kPage - 8;
  if (fault.gpr[guest::kRsp] % kPage <= kLastWhole || !is_code(fault.pc) || !is_code(fault.pc + 15))
    return false;
  guest::Insn insn;
  return guest::decode(reinterpret_cast<const u8*>(fault.pc), guest::kMaxInsnLength, insn) ==
             guest::DecodeStatus::kOk &&
         insn.branch == guest::Branch::kRet;
}

/// A wild jump into this program itself, which holds addresses that differ from run to run.
bool is_own_image(u64 pc) {
  return pc >= reinterpret_cast<u64>(__executable_start) && pc < reinterpret_cast<u64>(_end);
}

bool is_comparable(const Fault& fault) {
  return !is_own_image(fault.pc) && !is_engine_memory(fault.address) && !is_engine_memory(fault.pc) &&
         !is_engine_memory(fault.x87[1]) && (fault.flags & kTrapFlag) == 0 && !is_straddling_return(fault);
}

void abandon(ucontext_t& context, Outcome::End end) {
  outcome.end = end;
  context.uc_mcontext.gregs[REG_RIP] = reinterpret_cast<greg_t>(&abandon_sequence);
  context.uc_mcontext.gregs[REG_EFL] = 0x202;
}

void on_watchdog(ucontext_t& context) {
  if (!running) return;
  watchdog_rounds = watchdog_rounds + 1;
  if (watchdog_rounds < kWatchdogRounds) return;
  abandon(context, Outcome::End::kTimeout);
  running = false;
}

}  // namespace

/// Called by handler_entry.
extern "C" void on_signal(int signo, siginfo_t* info, void* raw_context) {
  ucontext_t& context = *static_cast<ucontext_t*>(raw_context);
  if (signo == SIGALRM) return;
  if (signo == SIGPROF) return on_watchdog(context);
  if (!running) {
    std::fprintf(stderr, "random_code: signal %d at %llx, address %p\n", signo,
                 context.uc_mcontext.gregs[REG_RIP], info->si_addr);
    std::_Exit(3);
  }
  note_fault(signo, *info, context);
  if (!is_comparable(outcome.faults.back())) return abandon(context, Outcome::End::kOutside);
  if (!skip(signo, context)) abandon(context, Outcome::End::kAbandoned);
}

const char* name(Outcome::End end) {
  constexpr const char* kNames[] = {"left", "abandoned", "timeout", "outside"};
  return kNames[static_cast<unsigned>(end)];
}

void start_handlers(bool watchdog, unsigned interrupt_every) {
  constexpr std::size_t kHandlerStack = 256 * 1024;
  outcome.faults.reserve(kMostFaults + 1);
  stack_t stack{};
  stack.ss_size = kHandlerStack;
  stack.ss_sp = mmap(nullptr, kHandlerStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_sigaction = reinterpret_cast<void (*)(int, siginfo_t*, void*)>(&handler_entry);
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigfillset(&action.sa_mask);
  for (const int signo : {SIGSEGV, SIGILL, SIGFPE, SIGBUS, SIGTRAP, SIGPROF, SIGALRM})
    sigaction(signo, &action, nullptr);
  itimerval interval{};
  interval.it_interval.tv_usec = interval.it_value.tv_usec = kWatchdogMicroseconds;
  if (watchdog) setitimer(ITIMER_PROF, &interval, nullptr);
  itimerval often{};
  often.it_interval.tv_usec = often.it_value.tv_usec = interrupt_every;
  if (interrupt_every != 0) setitimer(ITIMER_REAL, &often, nullptr);
}

const Outcome& run_watched(u64 seed) {
  outcome.end = Outcome::End::kLeft;
  outcome.faults.clear();
  flags_seed = seed;
  watchdog_rounds = 0;
  running = true;
  run_sequence();
  running = false;
  u64 last_x87_instruction;
  std::memcpy(&last_x87_instruction, exit_state.xsave + 8, sizeof last_x87_instruction);
  if (outcome.end == Outcome::End::kLeft && is_engine_memory(last_x87_instruction))
    outcome.end = Outcome::End::kOutside;
  return outcome;
}

}  // namespace detrec::fuzz
