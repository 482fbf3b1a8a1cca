#include "tests/unit/decode/tools/sandbox.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace detrec::guest::test {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::uint64_t kTrapFlag = 1 << 8;
constexpr std::uint64_t kFixedFlags = 0x202;
std::uint8_t* const kCodeEnd = reinterpret_cast<std::uint8_t*>(0x200000000000);

sigjmp_buf back;
MachineState* volatile current_state;
const std::uint8_t* volatile start;
volatile bool entered;
volatile Outcome outcome;
std::uint64_t fs_base, gs_base;
std::uint64_t registers[16];

constexpr int kContextIndex[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                   REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

// No thread-local storage may be touched before FS is ours again.
__attribute__((no_stack_protector, target("fsgsbase"))) void on_signal(int signal, siginfo_t* info,
                                                                       void* context) {
  asm volatile("wrfsbase %0; wrgsbase %1; cld" : : "r"(fs_base), "r"(gs_base));
  auto* uc = static_cast<ucontext_t*>(context);
  const greg_t* const gregs = uc->uc_mcontext.gregs;
  const auto* pc = reinterpret_cast<const std::uint8_t*>(gregs[REG_RIP]);
  if (signal == SIGTRAP && pc == start && !entered) {
    entered = true;  // the trap of the jump to the instruction
    asm volatile("wrfsbase %0; wrgsbase %0" : : "r"(kScratchCentre));
    return;
  }
  constexpr greg_t kInstructionFetch = 1 << 4;  // of a page fault's error code
  const bool moved = pc != start || signal == SIGTRAP;
  if (moved) {
    outcome = Outcome::kExecuted;
    for (int i = 0; i < 16; ++i) current_state->gpr[i] = static_cast<std::uint64_t>(gregs[kContextIndex[i]]);
    current_state->flags = static_cast<std::uint64_t>(gregs[REG_EFL]) & kFlagsAll;
  } else if (signal == SIGILL) {
    outcome = Outcome::kInvalid;
  } else if (signal == SIGSEGV && (gregs[REG_ERR] & kInstructionFetch) != 0 && info->si_addr == kCodeEnd) {
    outcome = Outcome::kWantsMore;
  } else {
    outcome = Outcome::kFaulted;
  }
  siglongjmp(back, 1);
}

}  // namespace

void prepare_sandbox() {
  mmap(kCodeEnd - kPage, kPage, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
       -1, 0);
  mmap(reinterpret_cast<void*>(kScratchCentre - kScratchSize / 2), kScratchSize, PROT_READ | PROT_WRITE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  static std::uint8_t stack[1 << 16];
  stack_t alternate{};
  alternate.ss_sp = stack;
  alternate.ss_size = sizeof stack;
  sigaltstack(&alternate, nullptr);
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (const int s : {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE}) sigaction(s, &action, nullptr);
  asm volatile("rdfsbase %0; rdgsbase %1" : "=r"(fs_base), "=r"(gs_base));
}

__attribute__((noinline)) Outcome execute(std::span<const std::uint8_t> code, MachineState& state) {
  std::uint8_t* const at = kCodeEnd - code.size();
  std::memcpy(at, code.data(), code.size());
  for (const std::uint64_t centre : {kScratchCentre, state.gpr[kRsp]})
    std::memset(reinterpret_cast<void*>(centre - 256), 0, 512);
  start = at;
  entered = false;
  current_state = &state;
  std::memcpy(registers, state.gpr, sizeof registers);
  registers[kRsp] -= 8;
  const std::uint64_t flags = (state.flags & kFlagsAll) | kFixedFlags | kTrapFlag;
  std::memcpy(reinterpret_cast<void*>(registers[kRsp]), &flags, sizeof flags);
  if (sigsetjmp(back, 0) == 0) {
    asm volatile(
        "vzeroall\n"
        "mov %[g], %%rax\n"
        "mov 0x08(%%rax), %%rcx; mov 0x10(%%rax), %%rdx; mov 0x18(%%rax), %%rbx; mov 0x20(%%rax), %%rsp\n"
        "mov 0x28(%%rax), %%rbp; mov 0x30(%%rax), %%rsi; mov 0x38(%%rax), %%rdi; mov 0x40(%%rax), %%r8\n"
        "mov 0x48(%%rax), %%r9; mov 0x50(%%rax), %%r10; mov 0x58(%%rax), %%r11; mov 0x60(%%rax), %%r12\n"
        "mov 0x68(%%rax), %%r13; mov 0x70(%%rax), %%r14; mov 0x78(%%rax), %%r15; mov 0x00(%%rax), %%rax\n"
        "popfq\n"
        "jmp *%[at]\n"
        :
        : [g] "r"(registers), [at] "m"(start)
        : "memory");
    __builtin_unreachable();
  }
  return outcome;
}

bool must_not_run(const Insn& insn) {
  switch (insn.special) {
    case Special::kSyscall:
    case Special::kSysenter:
    case Special::kIntN:
    case Special::kUmwait:
    case Special::kTpause:
    case Special::kWrpkru:
      return true;
    default:
      break;
  }
  switch (insn.branch) {
    case Branch::kFarJmp:
    case Branch::kFarCall:
    case Branch::kFarRet:
    case Branch::kIret:
      return true;
    default:
      break;
  }
  return insn.map == OpcodeMap::k1Byte && insn.opcode == 0x9d;  // popf
}

std::string run_in_child(const std::function<std::string(volatile std::uint64_t& current)>& body,
                         std::set<std::uint64_t>& lost) {
  static auto* const current = static_cast<volatile std::uint64_t*>(
      mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  for (;;) {
    int fds[2];
    if (pipe(fds) != 0) std::abort();
    const pid_t child = fork();
    if (child == 0) {
      prepare_sandbox();
      const std::string text = body(*current);
      for (std::size_t sent = 0; sent < text.size();) {
        const ssize_t n = write(fds[1], text.data() + sent, text.size() - sent);
        if (n <= 0) _exit(1);
        sent += static_cast<std::size_t>(n);
      }
      _exit(0);
    }
    close(fds[1]);
    std::string text;
    char buffer[4096];
    for (ssize_t n; (n = read(fds[0], buffer, sizeof buffer)) > 0;)
      text.append(buffer, static_cast<std::size_t>(n));
    close(fds[0]);
    int status;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return text;
    const std::uint64_t killer = *current;
    if (!lost.insert(killer).second) std::abort();
  }
}

}  // namespace detrec::guest::test
