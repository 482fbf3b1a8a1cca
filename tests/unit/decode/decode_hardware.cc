// Compares the decoder with this machine's processor: is an instruction valid, and how long is it?
// Usage: decode_hardware [SPACE [STRIDE [START]]]
//
// An instruction is placed so that its last byte is the last of a page, behind which nothing is mapped, and
// executed (single-stepped). If the processor wants more bytes than we say, it faults at the page's end
// without having moved; so it must when the last byte is missing. #UD shows as SIGILL; every other outcome
// means that the encoding is valid. The instructions run with registers that point into scratch memory, in a
// child process that may well be lost: it is started again behind the pattern that killed it.
#include <fmt/format.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "tests/unit/decode/oracle.h"
#include "tests/unit/decode/patterns.h"

namespace {

using namespace detrec::guest;
using namespace detrec::guest::test;

constexpr std::size_t kPage = 4096;
constexpr std::size_t kScratch = 1 << 20;
std::uint8_t* const kCodeEnd = reinterpret_cast<std::uint8_t*>(0x200000000000);
std::uint8_t* const kData = reinterpret_cast<std::uint8_t*>(0x100000000000);

enum class Outcome { kExecuted, kInvalid, kWantsMore };

sigjmp_buf back;
const std::uint8_t* volatile start;
volatile bool entered;
volatile int outcome;
std::uint64_t fs_base, gs_base;

// No thread-local storage may be touched before FS is ours again.
__attribute__((no_stack_protector, target("fsgsbase"))) void on_signal(int signal, siginfo_t* info,
                                                                       void* context) {
  asm volatile("wrfsbase %0; wrgsbase %1; cld" : : "r"(fs_base), "r"(gs_base));
  auto* uc = static_cast<ucontext_t*>(context);
  const auto* pc = reinterpret_cast<const std::uint8_t*>(uc->uc_mcontext.gregs[REG_RIP]);
  if (signal == SIGTRAP && pc == start && !entered) {
    entered = true;  // the trap of the jump to the instruction
    asm volatile("wrfsbase %0; wrgsbase %0" : : "r"(kData + kScratch / 2));
    return;
  }
  outcome = static_cast<int>(Outcome::kExecuted);
  if (pc == start && signal == SIGILL) outcome = static_cast<int>(Outcome::kInvalid);
  if (pc == start && signal == SIGSEGV && info->si_addr == kCodeEnd)
    outcome = static_cast<int>(Outcome::kWantsMore);
  siglongjmp(back, 1);
}

/// Executes the first `length` bytes of `pattern`.
__attribute__((noinline)) Outcome execute(const Pattern& pattern, std::size_t length) {
  std::uint8_t* at = kCodeEnd - length;
  std::memcpy(at, pattern.data(), length);
  start = at;
  entered = false;
  if (sigsetjmp(back, 0) == 0) {
    asm volatile(
        "mov %[data], %%rsp\n"
        "mov %%rsp, %%rax; mov %%rsp, %%rbx; mov %%rsp, %%rcx; mov %%rsp, %%rdx; mov %%rsp, %%rsi; mov "
        "%%rsp, %%rdi; mov "
        "%%rsp, %%rbp\n"
        "mov %%rsp, %%r8; mov %%rsp, %%r9; mov %%rsp, %%r10; mov %%rsp, %%r11; mov %%rsp, %%r12; mov %%rsp, "
        "%%r13\n"
        "mov %%rsp, %%r14; mov %%rsp, %%r15\n"
        "pushq $0x302\n"
        "popfq\n"
        "jmp *%[at]\n"
        :
        : [data] "r"(kData + kScratch / 2), [at] "m"(start)
        : "memory");
    __builtin_unreachable();
  }
  return static_cast<Outcome>(outcome);
}

/// What would leave the sandbox, or change the ground under it.
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

void prepare() {
  mmap(kCodeEnd - kPage, kPage, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
       -1, 0);
  mmap(kData, kScratch, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
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

struct Kind {
  std::uint64_t count = 0;
  std::string example;
};

struct Report {
  std::uint64_t compared = 0, valid = 0;
  std::map<std::string, std::uint64_t> executed;  ///< by mnemonic
  std::map<std::string, Kind> differences;        ///< by what and mnemonic
};

void compare(const Oracle& oracle, const Pattern& pattern, Report& report) {
  Insn insn;
  const DecodeStatus status = decode(pattern.data(), pattern.size(), insn);
  if (status == DecodeStatus::kOk && must_not_run(insn)) return;
  ++report.compared;
  const auto note = [&](const char* what, std::size_t shown) {
    const Reference ref = oracle.reference(pattern);
    const char* mnemonic = ref.ok() ? ZydisMnemonicGetString(ref.insn.mnemonic) : "?";
    std::string key = fmt::format("{} {}", what, mnemonic);
    if (!ref.ok()) key += fmt::format(" {}", hex(std::span(pattern).first(6)));
    Kind& kind = report.differences[key];
    if (kind.count++ == 0)
      kind.example = fmt::format("{} {}", hex(std::span(pattern).first(shown)), oracle.disassemble(ref));
  };
  if (status != DecodeStatus::kOk) {
    if (execute(pattern, 15) != Outcome::kInvalid && status == DecodeStatus::kInvalid) note("we refuse", 15);
    return;
  }
  ++report.valid;
  const std::size_t length = insn.length;
  switch (execute(pattern, length)) {
    case Outcome::kExecuted:
      ++report.executed[ZydisMnemonicGetString(oracle.reference(pattern).insn.mnemonic)];
      break;
    case Outcome::kInvalid:
      if (insn.special != Special::kUd) note("#UD", length);
      return;
    case Outcome::kWantsMore:
      note("longer", length + 1);
      return;
  }
  if (length > 1 && execute(pattern, length - 1) != Outcome::kWantsMore) note("shorter", length);
}

/// Passing a report from a child: one line per entry.
void send(const Report& report, int fd) {
  std::string text = fmt::format("n\t{}\t{}\n", report.compared, report.valid);
  for (const auto& [mnemonic, count] : report.executed) text += fmt::format("e\t{}\t{}\n", mnemonic, count);
  for (const auto& [key, kind] : report.differences)
    text += fmt::format("d\t{}\t{}\t{}\n", key, kind.count, kind.example);
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t n = write(fd, text.data() + sent, text.size() - sent);
    if (n <= 0) _exit(1);
    sent += static_cast<std::size_t>(n);
  }
}

void receive(const std::string& text, Report& report) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string kind, key, count, example;
    std::getline(fields, kind, '\t');
    std::getline(fields, key, '\t');
    std::getline(fields, count, '\t');
    std::getline(fields, example);
    if (kind == "n") {
      report.compared += std::stoull(key);
      report.valid += std::stoull(count);
    } else if (kind == "e") {
      report.executed[key] += std::stoull(count);
    } else {
      Kind& difference = report.differences[key];
      difference.count += std::stoull(count);
      if (difference.example.empty()) difference.example = example;
    }
  }
}

/// Compares the patterns from `begin` to `end` in a child. Returns the number of the pattern that killed it,
/// or `end`.
std::uint64_t run_chunk(const PatternSpace& space, std::uint64_t begin, std::uint64_t end,
                        std::uint64_t stride, const std::set<std::uint64_t>& skip,
                        volatile std::uint64_t* current, Report& report) {
  int fds[2];
  if (pipe(fds) != 0) std::abort();
  const pid_t child = fork();
  if (child == 0) {
    const Oracle oracle;
    prepare();
    Report part;
    for (std::uint64_t n = begin; n < end; n += stride) {
      *current = n;
      if (!skip.contains(n)) compare(oracle, space.make(n), part);
    }
    send(part, fds[1]);
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
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return *current;
  receive(text, report);
  return end;
}

void print(const PatternSpace& space, const Report& report) {
  fmt::print("{}: {} patterns, {} valid\n", space.name, report.compared, report.valid);
  for (const auto& [key, kind] : report.differences) {
    const auto also = report.executed.find(key.substr(key.rfind(' ') + 1));
    fmt::print("  {} {} (executed {}): {}\n", kind.count, key,
               also == report.executed.end() ? 0 : also->second, kind.example);
  }
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const char* only = argc > 1 ? argv[1] : "";
  const std::uint64_t stride = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 997;
  const std::uint64_t first = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 0;
  auto* current = static_cast<volatile std::uint64_t*>(
      mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  for (const PatternSpace& space : pattern_spaces()) {
    if (*only != '\0' && std::strcmp(only, space.name) != 0) continue;
    Report report;
    std::set<std::uint64_t> lost;
    const std::uint64_t chunk = 50'000 * stride;
    for (std::uint64_t begin = first; begin < space.size;) {
      const std::uint64_t end = std::min(begin + chunk, space.size);
      const std::uint64_t reached = run_chunk(space, begin, end, stride, lost, current, report);
      if (reached == end) {
        begin += chunk;
        continue;
      }
      const Pattern pattern = space.make(reached);
      fmt::print("{}: lost a child at pattern {}: {}\n", space.name, reached,
                 hex(std::span(pattern).first(15)));
      std::fflush(stdout);
      if (!lost.insert(reached).second) return 1;
    }
    print(space, report);
  }
  return 0;
}
