#include "trace/guest/base/print.h"

#include <asm/stat.h>

#include "trace/guest/base/string.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/process.h"

namespace detrec::guest {
namespace {

class Writer {
 public:
  Writer(char* to, std::size_t size) : to_(to), size_(size) {}
  void put(char c) {
    if (used_ + 1 < size_) to_[used_++] = c;
  }
  void put(const char* s) {
    while (*s != 0) put(*s++);
  }
  void number(u64 value, unsigned base) {
    char digits[24];
    int n = 0;
    do {
      digits[n++] = "0123456789abcdef"[value % base];
      value /= base;
    } while (value != 0);
    while (n > 0) put(digits[--n]);
  }
  std::size_t finish() {
    if (size_ > 0) to_[used_] = 0;
    return used_;
  }

 private:
  char* to_;
  std::size_t size_;
  std::size_t used_ = 0;
};

void signed_number(Writer& w, i64 value) {
  if (value < 0) w.put('-');
  w.number(value < 0 ? 0 - static_cast<u64>(value) : static_cast<u64>(value), 10);
}

}  // namespace

std::size_t format_v(char* to, std::size_t size, const char* fmt, va_list args) {
  Writer w(to, size);
  for (; *fmt != 0; ++fmt) {
    if (*fmt != '%') {
      w.put(*fmt);
      continue;
    }
    bool wide = *++fmt == 'l';
    if (wide) ++fmt;
    switch (*fmt) {
      case 's': {
        const char* s = va_arg(args, const char*);
        w.put(s != nullptr ? s : "(null)");
        break;
      }
      case 'c':
        w.put(static_cast<char>(va_arg(args, int)));
        break;
      case 'd':
        signed_number(w, wide ? va_arg(args, long) : va_arg(args, int));
        break;
      case 'u':
        w.number(wide ? va_arg(args, unsigned long) : va_arg(args, unsigned), 10);
        break;
      case 'x':
        w.number(wide ? va_arg(args, unsigned long) : va_arg(args, unsigned), 16);
        break;
      case 'p':
        w.put("0x");
        w.number(va_arg(args, unsigned long), 16);
        break;
      case 0:
        --fmt;
        break;
      default:
        w.put(*fmt);
        break;
    }
  }
  return w.finish();
}

std::size_t format(char* to, std::size_t size, const char* fmt, ...) {
  va_list args;
  va_start(args, fmt);
  std::size_t n = format_v(to, size, fmt, args);
  va_end(args);
  return n;
}

namespace {
/// Descriptor 2 is the program's: it may have made it a file of its own.
bool is_detrecs_stderr(const wire::Launch& launch) {
  struct stat status;
  return !failed(raw_syscall(__NR_fstat, 2, arg(&status))) && status.st_ino == launch.stderr_identity.inode &&
         status.st_dev == launch.stderr_identity.device;
}

void keep(wire::Launch& launch, const char* line, std::size_t n) {
  u64 at = __atomic_fetch_add(&launch.kept_bytes, n, __ATOMIC_RELAXED);
  if (at >= sizeof launch.kept_warnings) return;
  u64 room = sizeof launch.kept_warnings - at;
  memcpy(launch.kept_warnings + at, line, n < room ? n : room);
}

void print_line(const char* prefix, const char* text) {
  char line[700];
  std::size_t n = format(line, sizeof line - 1, "%s%s", prefix, text);
  line[n++] = '\n';
  wire::Launch* launch = process().launch;
  if (launch == nullptr || is_detrecs_stderr(*launch)) {
    raw_syscall(__NR_write, 2, arg(line), n);
  } else {
    keep(*launch, line, n);
  }
}
}  // namespace

void warn(const char* fmt, ...) {
  char text[600];
  va_list args;
  va_start(args, fmt);
  format_v(text, sizeof text, fmt, args);
  va_end(args);
  print_line("detrec: ", text);
}

void panic(const char* file, int line, const char* fmt, ...) {
  static bool entered = false;
  if (entered) raw_syscall(__NR_exit_group, 125);
  entered = true;
  char text[480];
  va_list args;
  va_start(args, fmt);
  format_v(text, sizeof text, fmt, args);
  va_end(args);
  const char* base = strrchr(file, '/');
  char message[512];
  format(message, sizeof message, "engine failure at %s:%d: %s", base != nullptr ? base + 1 : file, line,
         text);
  // The frontend prints the message of the first process; others must speak for themselves.
  wire::Launch* launch = process().launch;
  if (launch != nullptr && process().first) {
    copy_string(launch->message, message, sizeof launch->message);
    launch->failure_status = 125;
    launch->phase = wire::LaunchPhase::kFailed;
  } else {
    print_line("detrec: ", message);
  }
  const Registers& r = context().regs;
  static const char* const kNames[16] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                         "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
  warn("guest pc 0x%lx rflags %lx tid %d", static_cast<unsigned long>(r.pc),
       static_cast<unsigned long>(r.rflags), context().thread != nullptr ? context().thread->tid : 0);
  for (int i = 0; i < 16; i += 4) {
    warn("  %s %lx  %s %lx  %s %lx  %s %lx", kNames[i], static_cast<unsigned long>(r.gpr[i]), kNames[i + 1],
         static_cast<unsigned long>(r.gpr[i + 1]), kNames[i + 2], static_cast<unsigned long>(r.gpr[i + 2]),
         kNames[i + 3], static_cast<unsigned long>(r.gpr[i + 3]));
  }
  raw_syscall(__NR_exit_group, 125);
  __builtin_unreachable();
}

Process& process() {
  static Process instance;
  return instance;
}

wire::EngineStats& statistics() {
  static wire::EngineStats of_other_processes;
  return process().first ? process().launch->stats : of_other_processes;
}

}  // namespace detrec::guest
