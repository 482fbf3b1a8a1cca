#include "trace/guest/signal/host_handler.h"

#include "trace/guest/base/arena.h"
#include "trace/guest/base/print.h"
#include "trace/guest/base/probe.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/events/exchange.h"
#include "trace/guest/process.h"
#include "trace/guest/run/accounts.h"
#include "trace/guest/run/dispatch.h"
#include "trace/guest/run/exits.h"
#include "trace/guest/signal/actions.h"
#include "trace/guest/signal/queue.h"
#include "trace/guest/signal/xstate.h"
#include "trace/guest/translate/translator.h"

extern "C" char detrec_window_begin[], detrec_window_syscall[], detrec_window_end[],
    detrec_window_not_started[], detrec_window_restart[];

namespace detrec::guest::signal {
namespace {

constexpr u64 kPageFault = 14, kErrorWrite = 2;
constexpr u64 kHostFlags = 0x202;
constexpr i32 kTrapTrace = 2;  // si_code TRAP_TRACE
/// Everything that can be blocked while the engine runs.
constexpr SignalSet kAllButFaults = host_mask(~SignalSet{0});

/// At the lowest addresses of a host signal stack, just below what the kernel knows as the stack.
struct alignas(64) StackHeader {
  Thread* thread;
};

/// A handler finds its thread by the alternate stack, whose place the kernel puts into every frame. In a
/// replay all threads share one, and the fault is that of the holder of the turn.
Thread& thread_of(const UserContext& context_of_host) {
  if (events::replaying() && context().thread != nullptr) return *context().thread;
  const UserContext& context = context_of_host;
  if (context.stack.size == 0) DETREC_PANIC("a signal came before its thread was ready");
  return *reinterpret_cast<StackHeader*>(context.stack.sp - sizeof(StackHeader))->thread;
}

bool testing = false;

u64 label(const char* at) { return reinterpret_cast<u64>(at); }

u64 fault_address(const SignalInfo& info) {
  u64 address;
  __builtin_memcpy(&address, info.rest, sizeof address);
  return address;
}

/// Lets the kernel go on in the dispatch loop. The vector state it puts back is the guest's.
void continue_in_engine(MachineContext& machine) {
  machine.rip = arg(&fault_entry);
  machine.rsp = context().engine_rsp;
  machine.rflags = kHostFlags;
}

void on_guest_fault(Thread& thread, const SignalInfo& info, MachineContext& machine) {
  u64 gpr[16];
  get_registers(machine, gpr);
  u64 host_pc = machine.rip;
  if (!run::recover_guest_state(host_pc, gpr, machine.rflags)) {
    DETREC_PANIC("no guest state for signal %d at 0x%lx", info.signo, host_pc);
  }
  bool page_fault = machine.trapno == kPageFault;
  u64 address = page_fault ? machine.cr2 : fault_address(info);
  bool write = page_fault && (machine.error & kErrorWrite);
  Turn turn = TurnSchedule::held();  // who runs generated code has it
  if (run::classify_fault(turn, info.signo, address, write, host_pc) == run::FaultAction::kDeliver) {
    PendingFault& fault = thread.signals.fault;
    fault = {true, info, machine.trapno, machine.error};
    if (!page_fault && address == host_pc) address = turn.regs().pc;
    if (address != fault_address(info)) __builtin_memcpy(fault.info.rest, &address, sizeof address);
  }
  continue_in_engine(machine);
}

/// A process may send itself a fault's signal with any si_code (rt_sigqueueinfo(2)); it arrives as the call
/// returns.
bool was_sent_here(const SignalState& state, const SignalInfo& info, const MachineContext& machine) {
  u8 before[2];
  if (!read_guest(before, machine.rip - 2, sizeof before)) return false;  // rip may be anywhere
  bool after_syscall =
      before[0] == 0x0f && before[1] == 0x05 && machine.rcx == machine.rip && machine.rax == 0;
  return after_syscall && !(state.pending & bit(info.signo));
}

void on_signal(Thread& thread, const SignalInfo& info, UserContext& context_of_host) {
  SignalState& state = thread.signals;
  MachineContext& machine = context_of_host.machine;
  if (!enqueue(state, info)) {
    send_to_self(info);  // blocked here, and until the queue has been drained
  } else if (!(state.pending & ~state.blocked)) {
    return;  // a fault's signal that the guest blocks
  }
  // The kernel keeps what else comes, in its order, until this one has been delivered.
  context_of_host.sigmask = state.host_blocked = kAllButFaults;
  u64 rip = machine.rip;
  if (rip >= label(detrec_window_begin) && rip <= label(detrec_window_syscall)) {
    bool restart = rip == label(detrec_window_syscall) && machine.rcx == label(detrec_window_end);
    machine.rip = label(restart ? detrec_window_restart : detrec_window_not_started);
  } else if (context().thread == &thread && context().in_guest) {
    run::request_exit(rip, &machine.rcx);
  }
}

/// A guest that sets the trap flag (to single-step itself) would step the engine's code: it loses the flag
/// instead.
void drop_trap_flag(MachineContext& machine) {
  machine.rflags &= ~kFlagTrap;
  context().regs.rflags &= ~kFlagTrap;
  static bool warned = false;
  if (!warned) warn("the trap flag is not supported: a program cannot single-step itself");
  warned = true;
}

}  // namespace

/// What detrec_host_handler jumps to.
extern "C" void detrec_on_signal(int signo, const SignalInfo* info, UserContext* context) {
  MachineContext& machine = context->machine;
  if (testing) {
    learn_xstate(reinterpret_cast<const u8*>(machine.fpstate), context->flags & kUcFpXstate);
    testing = false;
    constexpr u64 kUd2Length = 2;
    machine.rip += kUd2Length;
    return;
  }
  if (signo == kSigTrap && info->code == kTrapTrace && (machine.rflags & kFlagTrap)) {
    return drop_trap_flag(machine);
  }
  Thread& thread = thread_of(*context);
  if (!(kFaults & bit(signo)) || info->code <= kSiUser) return on_signal(thread, *info, *context);
  if (machine.rip >= label(probe_begin) && machine.rip < label(probe_end)) {
    machine.rip = label(probe_failed);
  } else if (translate::in_cache(machine.rip)) {
    on_guest_fault(thread, *info, machine);
  } else if (was_sent_here(thread.signals, *info, machine)) {
    on_signal(thread, *info, *context);
  } else {
    DETREC_PANIC("signal %d, code %d, in the engine at 0x%lx, address 0x%lx", signo, info->code, machine.rip,
                 fault_address(*info));
  }
}

void install_host_stack(Thread& thread) {
  if (thread.host_signal_stack == nullptr) {
    thread.host_signal_stack = static_cast<u8*>(engine_reserve_stack(kHostSignalStackSize));
  }
  reinterpret_cast<StackHeader*>(thread.host_signal_stack)->thread = &thread;
  AltStack stack{arg(thread.host_signal_stack) + sizeof(StackHeader), 0, 0,
                 kHostSignalStackSize - sizeof(StackHeader)};
  SysResult r = raw_syscall(__NR_sigaltstack, arg(&stack), 0);
  if (failed(r)) DETREC_PANIC("the kernel refuses a signal stack: error %ld", -r);
}

/// By an instruction that faults, since a replay may send no signals (events/sandbox.h).
void self_test() {
  testing = true;
  asm volatile("ud2" : : : "memory");
  if (testing) DETREC_PANIC("a fault does not reach the engine");
}

void update_host_mask(Turn& turn) {
  SignalState& state = turn.thread().signals;
  SignalSet wanted = host_mask(state.blocked);
  if (state.host_blocked == wanted) return;
  if (events::replaying()) {  // no signal from outside is the guest's
    state.host_blocked = wanted;
    return;
  }
  run::AccountedMeanwhile accounted(turn);  // a signal that waits for this may have the default action
  state.host_blocked = wanted;              // first: a handler that comes with the call changes it again
  raw_syscall(__NR_rt_sigprocmask, kSetMask, arg(&wanted), 0, sizeof wanted);
}

void return_blocked(SignalState& state) {
  SignalInfo info;
  while (dequeue(state, state.blocked & ~kFaults, info)) send_to_self(info);
}

void send_to_self(const SignalInfo& info) {
  raw_syscall(__NR_rt_tgsigqueueinfo, static_cast<u64>(raw_syscall(__NR_getpid)),
              static_cast<u64>(raw_syscall(__NR_gettid)), static_cast<u64>(info.signo), arg(&info));
}

void die(Turn& turn, int signo) {
  run::account_process(turn);
  events::exchange_exit(turn, wire::ExitCause::kSignal, signo);
  // Blocked until the default is in place, so that no other signal comes first.
  SignalSet all = ~SignalSet{0}, rest = ~bit(signo);
  raw_syscall(__NR_rt_sigprocmask, kSetMask, arg(&all), 0, sizeof all);
  if (!(kUnblockable & bit(signo))) install_plain(signo, kDefault);
  raw_syscall(__NR_tgkill, static_cast<u64>(raw_syscall(__NR_getpid)),
              static_cast<u64>(raw_syscall(__NR_gettid)), static_cast<u64>(signo));
  raw_syscall(__NR_rt_sigprocmask, kSetMask, arg(&rest), 0, sizeof rest);
  // Only the first process of a pid namespace survives that: the kernel protects it from defaults.
  raw_syscall(__NR_exit_group, static_cast<u64>(128 + signo));
  __builtin_unreachable();
}

}  // namespace detrec::guest::signal
