#include "trace/guest/load/loaded_program.h"

#include <linux/prctl.h>

#include "trace/guest/base/arena.h"
#include "trace/guest/base/print.h"
#include "trace/guest/base/probe.h"
#include "trace/guest/base/string.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/load/loader.h"

namespace detrec::guest::load {
namespace {

struct Loaded {
  char executable[4096];
  AuxVector auxv;
  GuestRange arguments;
  GuestRange environment;
  GuestRange code;
  char* command_line;  ///< a copy, made at the first request
  u64 command_line_bytes;
};

Loaded& loaded() {
  static Loaded instance;
  return instance;
}

}  // namespace

void remember_executable(i32 fd, const char* path) {
  Loaded& l = loaded();
  char link[32];
  format(link, sizeof link, "/proc/thread-self/fd/%d", fd);
  SysResult n = raw_syscall(__NR_readlink, arg(link), arg(l.executable), sizeof l.executable - 1);
  if (!failed(n)) {
    l.executable[n] = 0;
    return;
  }
  l.executable[0] = 0;
  u64 used = 0;
  if (path[0] != '/') {
    n = raw_syscall(__NR_getcwd, arg(l.executable), sizeof l.executable - 1);
    if (!failed(n) && n > 0) {
      used = static_cast<u64>(n) - 1;
      if (used < sizeof l.executable - 1) l.executable[used++] = '/';
    }
  }
  copy_string(l.executable + used, path, sizeof l.executable - used);
}

void remember_stack(const StackLayout& layout, const AuxVector& auxv) {
  Loaded& l = loaded();
  l.auxv = auxv;
  l.arguments = {layout.arg_begin, layout.arg_end};
  l.environment = {layout.env_begin, layout.env_end};
  l.command_line_bytes = layout.arg_end - layout.arg_begin;
  l.command_line = static_cast<char*>(engine_reserve(l.command_line_bytes + 1));
  read_guest(l.command_line, layout.arg_begin, l.command_line_bytes);
}

void remember_ranges(const ProgramRanges& ranges) {
  Loaded& l = loaded();
  l.code = ranges.code;
  prctl_mm_map map{};
  map.start_code = ranges.code.begin;
  map.end_code = ranges.code.end;
  map.start_data = ranges.data.begin;
  map.end_data = ranges.data.end;
  map.start_brk = map.brk = ranges.brk;
  map.start_stack = ranges.stack;
  map.arg_start = l.arguments.begin;
  map.arg_end = l.arguments.end;
  map.env_start = l.environment.begin;
  map.env_end = l.environment.end;
  map.auxv = reinterpret_cast<__u64*>(l.auxv.words);
  map.auxv_size = l.auxv.count * 16;
  map.exe_fd = ~0u;
  // Kernels without CONFIG_CHECKPOINT_RESTORE do not know it: then ps shows the engine's command line.
  raw_syscall(__NR_prctl, PR_SET_MM, PR_SET_MM_MAP, arg(&map), sizeof map, 0);
}

GuestRange code_range() { return loaded().code; }
GuestRange argument_range() { return loaded().arguments; }
GuestRange environment_range() { return loaded().environment; }

const char* executable_path() { return loaded().executable; }

const u64* guest_auxv(u64* bytes) {
  *bytes = loaded().auxv.count * 16ull;
  return loaded().auxv.words;
}

const char* command_line(u64* bytes) {
  *bytes = loaded().command_line_bytes;
  return loaded().command_line;
}

}  // namespace detrec::guest::load
