#include "trace/guest/procfs/proc_path.h"

#include "trace/guest/base/string.h"

namespace detrec::guest::procfs {
namespace {

struct Name {
  const char* text;
  ProcFile file;
};
constexpr Name kFiles[] = {
    {"exe", ProcFile::kExe},
    {"maps", ProcFile::kMaps},
    {"smaps", ProcFile::kSmaps},
    {"smaps_rollup", ProcFile::kSmapsRollup},
    {"numa_maps", ProcFile::kNumaMaps},
    {"auxv", ProcFile::kAuxv},
    {"cmdline", ProcFile::kCmdline},
    {"environ", ProcFile::kEnviron},
    {"stat", ProcFile::kStat},
    {"status", ProcFile::kStatus},
    {"statm", ProcFile::kStatm},
    {"mem", ProcFile::kMem},
};

/// A path cut into components, "." and ".." worked off.
struct Components {
  static constexpr int kMax = 8;  // our paths have at most six; of longer ones only the beginning matters
  struct Part {
    const char* begin;
    const char* end;
  } parts[kMax];
  int count = 0;
  int beyond = 0;

  void push(const char* begin, const char* end) {
    if (count < kMax) {
      parts[count++] = {begin, end};
    } else {
      ++beyond;
    }
  }
  void pop() {
    if (beyond > 0) {
      --beyond;
    } else if (count > 0) {
      --count;
    }
  }
};

bool equals(Components::Part part, const char* text) {
  std::size_t n = strlen(text);
  return static_cast<std::size_t>(part.end - part.begin) == n && memcmp(part.begin, text, n) == 0;
}

Components cut(const char* path) {
  Components out;
  while (*path != 0) {
    while (*path == '/') ++path;
    const char* end = path;
    while (*end != 0 && *end != '/') ++end;
    Components::Part part{path, end};
    if (equals(part, "..")) {
      out.pop();
    } else if (end != path && !equals(part, ".")) {
      out.push(path, end);
    }
    path = end;
  }
  return out;
}

}  // namespace

i32 parse_number(const char* s, const char* end) {
  if (s == end || end - s > 9) return -1;
  i32 value = 0;
  for (; s != end; ++s) {
    if (*s < '0' || *s > '9') return -1;
    value = value * 10 + (*s - '0');
  }
  return value;
}

bool may_concern(const char* path) {
  if (*path == 0) return true;  // an *at call about its descriptor
  if (*path == '/' && !starts_with(path, "/proc/") && !starts_with(path, "/dev/") &&
      strchr(path + 1, '/') != nullptr) {
    // Odd spellings of /proc: "//proc", "/./proc", "/dev/../proc".
    const char* second = path + 1;
    bool odd = *second == '/' || *second == '.';
    for (const char* p = path; !odd && *p != 0; ++p) odd = p[0] == '/' && p[1] == '.' && p[2] == '.';
    if (!odd) return false;
  }
  const char* end = path + strlen(path);
  while (end > path && end[-1] == '/') --end;
  const char* base = end;
  while (base > path && base[-1] != '/') --base;
  Components::Part last{base, end};
  for (const Name& name : kFiles)
    if (equals(last, name.text)) return true;
  if (equals(last, "fd") || equals(last, "fdinfo") || parse_number(base, end) >= 0) return true;
  // Something below a descriptor.
  for (const char* p = path; *p != 0; ++p)
    if (starts_with(p, "fd/") || starts_with(p, "fdinfo/")) return true;
  return false;
}

ProcPath parse_proc_path(const char* path) {
  ProcPath out;
  if (path[0] != '/') return out;
  Components c = cut(path);
  int at = 0;
  if (c.count >= 2 && equals(c.parts[0], "dev") && equals(c.parts[1], "fd")) {
    at = 1;  // a link to /proc/self/fd
  } else {
    if (c.count < 3 || !equals(c.parts[0], "proc")) return out;
    out.thread = equals(c.parts[1], "thread-self");
    if (!equals(c.parts[1], "self") && !out.thread) {
      out.owner = parse_number(c.parts[1].begin, c.parts[1].end);
      if (out.owner <= 0) return out;
    }
    at = 2;
    if (c.count >= 5 && equals(c.parts[2], "task")) {
      out.task = parse_number(c.parts[3].begin, c.parts[3].end);
      if (out.task <= 0) return out;
      at = 4;
    }
  }
  int rest = c.count - at - 1 + c.beyond;
  Components::Part leaf = c.parts[at];
  if (equals(leaf, "fd") || equals(leaf, "fdinfo")) {
    if (rest == 0) {
      out.file = ProcFile::kDescriptorFolder;
      return out;
    }
    Components::Part number = c.parts[at + 1];
    out.descriptor = parse_number(number.begin, number.end);
    if (out.descriptor < 0) return out;
    out.file = ProcFile::kDescriptor;
    out.link = rest == 1 && equals(leaf, "fd");
    return out;
  }
  if (rest != 0) return out;
  for (const Name& name : kFiles)
    if (equals(leaf, name.text)) out.file = name.file;
  return out;
}

}  // namespace detrec::guest::procfs
