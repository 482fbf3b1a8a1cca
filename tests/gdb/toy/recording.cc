#include "tests/gdb/toy/recording.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

#include "gdbstub/registers/fxsave.h"

namespace detrec::gdbstub::toy {

namespace {

constexpr std::size_t kMaxSteps = 200'000;
constexpr std::uint64_t kStackBelow = 4096, kStackAbove = 4096;  // of main's frame that are looked at

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The address of main, from the symbol table; 0 if there is none.
std::uint64_t find_main(const std::string& path) {
  const auto image = read_file(path);
  const auto at = [&image]<typename T>(std::uint64_t offset, T& out) {
    if (offset > image.size() || image.size() - offset < sizeof out) return false;
    std::memcpy(&out, image.data() + offset, sizeof out);
    return true;
  };
  Elf64_Ehdr header;
  if (!at(0, header) || header.e_type != ET_EXEC) return 0;
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section, strings;
    if (!at(header.e_shoff + i * sizeof section, section) || section.sh_type != SHT_SYMTAB) continue;
    if (!at(header.e_shoff + section.sh_link * sizeof strings, strings)) continue;
    for (std::uint64_t offset = 0; offset < section.sh_size; offset += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      if (!at(section.sh_offset + offset, symbol)) return 0;
      const auto name = strings.sh_offset + symbol.st_name;
      if (name + 5 <= image.size() && std::memcmp(image.data() + name, "main", 5) == 0)
        return symbol.st_value;
    }
  }
  return 0;
}

std::vector<std::string> split_zeros(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, '\0');) parts.push_back(part);
  return parts;
}

std::vector<Mapping> parse_maps(const std::string& text) {
  std::vector<Mapping> mappings;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    Mapping mapping;
    unsigned long start = 0, end = 0, offset = 0, inode = 0;
    char permissions[5] = {};
    int path = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx %4s %lx %x:%x %lu %n", &start, &end, permissions, &offset,
                    &mapping.device_major, &mapping.device_minor, &inode, &path) < 7) {
      continue;
    }
    mapping.range = {{start}, {end}};
    mapping.readable = permissions[0] == 'r';
    mapping.writable = permissions[1] == 'w';
    mapping.executable = permissions[2] == 'x';
    mapping.shared = permissions[3] == 's';
    mapping.offset = offset;
    mapping.inode = inode;
    mapping.path = line.substr(static_cast<std::size_t>(path));
    mappings.push_back(mapping);
  }
  return mappings;
}

Registers convert(const user_regs_struct& r, const user_fpregs_struct& fp) {
  Registers out;
  out.gpr = {r.rax, r.rbx, r.rcx, r.rdx, r.rsi, r.rdi, r.rbp, r.rsp,
             r.r8,  r.r9,  r.r10, r.r11, r.r12, r.r13, r.r14, r.r15};
  out.rip = r.rip;
  out.rflags = r.eflags & ~0x100ull;  // single-stepping shows in TF
  out.cs = static_cast<std::uint32_t>(r.cs);
  out.ss = static_cast<std::uint32_t>(r.ss);
  out.ds = static_cast<std::uint32_t>(r.ds);
  out.es = static_cast<std::uint32_t>(r.es);
  out.fs = static_cast<std::uint32_t>(r.fs);
  out.gs = static_cast<std::uint32_t>(r.gs);
  out.fs_base = r.fs_base;
  out.gs_base = r.gs_base;
  out.orig_rax = r.orig_rax;
  static_assert(sizeof fp == 512);
  registers::read_fxsave(std::span<const std::uint8_t, 512>(reinterpret_cast<const std::uint8_t*>(&fp), 512),
                         out);
  return out;
}

/// The traced program. Killed at the end, whatever happens.
class Tracee {
 public:
  ~Tracee() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  bool start(const std::vector<std::string>& arguments) {
    std::vector<char*> argv;
    for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
      ::execv(argv[0], argv.data());
      ::_exit(127);
    }
    return pid_ > 0 && wait_for_trap();
  }

  bool wait_for_trap() {
    int status = 0;
    return ::waitpid(pid_, &status, 0) == pid_ && WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP;
  }
  bool go(int request) { return request_ok(request) && wait_for_trap(); }

  bool run_to(std::uint64_t address) {
    errno = 0;
    const long word = ::ptrace(PTRACE_PEEKTEXT, pid_, address, nullptr);
    if (errno != 0) return false;
    const long trap = static_cast<long>((static_cast<unsigned long>(word) & ~0xfful) | 0xcc);
    if (::ptrace(PTRACE_POKETEXT, pid_, address, trap) != 0 || !go(PTRACE_CONT)) return false;
    auto regs = registers();
    if (regs.rip != address + 1) return false;
    regs.rip = address;
    return ::ptrace(PTRACE_SETREGS, pid_, nullptr, &regs) == 0 &&
           ::ptrace(PTRACE_POKETEXT, pid_, address, word) == 0;
  }

  user_regs_struct registers() const {
    user_regs_struct regs{};
    ::ptrace(PTRACE_GETREGS, pid_, nullptr, &regs);
    return regs;
  }
  user_fpregs_struct float_registers() const {
    user_fpregs_struct regs{};
    ::ptrace(PTRACE_GETFPREGS, pid_, nullptr, &regs);
    return regs;
  }
  bool was_own_trap() const {
    siginfo_t info{};
    ::ptrace(PTRACE_GETSIGINFO, pid_, nullptr, &info);
    return info.si_code == SI_KERNEL;
  }
  bool read(Address address, std::vector<std::uint8_t>& out) const {
    iovec local{out.data(), out.size()};
    iovec remote{reinterpret_cast<void*>(address.value), out.size()};
    return ::process_vm_readv(pid_, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(out.size());
  }
  std::string proc(const char* file) const { return read_file("/proc/" + std::to_string(pid_) + "/" + file); }
  std::string link(const char* file) const {
    char path[PATH_MAX];
    const auto name = "/proc/" + std::to_string(pid_) + "/" + file;
    const auto count = ::readlink(name.c_str(), path, sizeof path);
    return {path, static_cast<std::size_t>(std::max<ssize_t>(count, 0))};
  }
  pid_t pid() const { return pid_; }

 private:
  bool request_ok(int request) const {
    return ::ptrace(static_cast<__ptrace_request>(request), pid_, nullptr, nullptr) == 0;
  }

  pid_t pid_ = 0;
};

/// A piece of memory in which writes are looked for by comparing.
struct Window {
  Address start;
  std::vector<std::uint8_t> bytes;
};

void find_writes(Window& window, const std::vector<std::uint8_t>& now, std::vector<Write>& writes) {
  for (std::size_t i = 0; i < now.size();) {
    if (now[i] == window.bytes[i]) {
      ++i;
      continue;
    }
    auto end = i;
    while (end < now.size() && now[end] != window.bytes[end]) ++end;
    const auto at = [](std::size_t n) { return static_cast<std::ptrdiff_t>(n); };
    writes.push_back({{window.start.value + i},
                      {window.bytes.begin() + at(i), window.bytes.begin() + at(end)},
                      {now.begin() + at(i), now.begin() + at(end)}});
    i = end;
  }
  window.bytes = now;
}

void describe(const Tracee& tracee, const std::vector<std::string>& arguments, Recording& recording) {
  auto& process = recording.process;
  process.id = {tracee.pid()};
  process.parent = {::getpid()};
  process.name = tracee.proc("comm");
  if (!process.name.empty() && process.name.back() == '\n') process.name.pop_back();
  process.arguments = arguments;
  process.environment = split_zeros(tracee.proc("environ"));
  process.working_directory = tracee.link("cwd");
  process.executable = tracee.link("exe");
  process.mappings = parse_maps(tracee.proc("maps"));
  const auto auxv = tracee.proc("auxv");
  recording.auxv.assign(auxv.begin(), auxv.end());
  for (const auto& mapping : process.mappings) {
    Region region{mapping, std::vector<std::uint8_t>(mapping.range.end.value - mapping.range.start.value)};
    if (!mapping.readable || !tracee.read(mapping.range.start, region.bytes)) region.bytes.clear();
    recording.regions.push_back(std::move(region));
  }
}

std::vector<Window> windows_of(const Tracee& tracee, const Recording& recording, std::uint64_t rsp) {
  std::vector<Window> windows;
  for (const auto& region : recording.regions) {
    const auto& range = region.mapping.range;
    if (region.mapping.writable && region.mapping.path == recording.process.executable) {
      windows.push_back({range.start, region.bytes});
    } else if (range.contains({rsp})) {
      const auto begin = std::max(range.start.value, rsp - kStackBelow);
      const auto end = std::min(range.end.value, rsp + kStackAbove);
      windows.push_back({{begin}, std::vector<std::uint8_t>(end - begin)});
      tracee.read({begin}, windows.back().bytes);
    }
  }
  return windows;
}

}  // namespace

Result<Recording> record(const std::vector<std::string>& arguments) {
  const auto main_address = find_main(arguments.at(0));
  if (main_address == 0) return Error{ENOEXEC, "no main in a non-PIE executable", arguments[0]};
  Tracee tracee;
  if (!tracee.start(arguments) || !tracee.run_to(main_address)) {
    return Error{ECHILD, "cannot be run to main", arguments[0]};
  }
  Recording recording;
  describe(tracee, arguments, recording);

  const auto first = tracee.registers();
  auto windows = windows_of(tracee, recording, first.rsp);
  std::vector<std::uint8_t> return_slot(8);
  tracee.read({first.rsp}, return_slot);
  std::uint64_t return_address;
  std::memcpy(&return_address, return_slot.data(), sizeof return_address);

  auto regs = first;
  while (recording.steps.size() < kMaxSteps) {
    Step step;
    step.registers = convert(regs, tracee.float_registers());
    if (regs.rip == return_address && regs.rsp > first.rsp) {
      recording.steps.push_back(std::move(step));
      return recording;
    }
    if (!tracee.go(PTRACE_SINGLESTEP)) break;
    step.traps = tracee.was_own_trap();
    for (auto& window : windows) {
      std::vector<std::uint8_t> now(window.bytes.size());
      if (tracee.read(window.start, now)) find_writes(window, now, step.writes);
    }
    recording.steps.push_back(std::move(step));
    regs = tracee.registers();
  }
  return Error{ECHILD, "main did not return", arguments[0]};
}

}  // namespace detrec::gdbstub::toy
