#include "trace/guest/procfs/maps_file.h"

#include "trace/guest/base/arena.h"
#include "trace/guest/base/string.h"
#include "trace/guest/memory/guest_map.h"

namespace detrec::guest::procfs {
namespace {

constexpr char kAnonPrefix[] = "[anon";  // [anon:name] and [anon_shmem:name], set with prctl(PR_SET_VMA)

bool name_starts(const MapsRow& row, const char* prefix) {
  u64 n = strlen(prefix);
  return row.name_bytes >= n && memcmp(row.name, prefix, n) == 0;
}

struct Walk {
  LineReader* kernel;
  MapsRow row;        ///< the kernel's current row; end 0: none left
  MapsRow vsyscall;
  void (*visit)(const MapsRow&, void*);
  void* arg;

  /// Moves to the first kernel row that ends above `address`.
  void advance(GuestAddr address) {
    while (row.end != 0 && row.end <= address) {
      u64 n = 0;
      const char* line = kernel->next(n);
      row.end = 0;
      if (line == nullptr || !parse_row(line, n, row)) return;
    }
  }
};

void visit_mapping(const memory::Mapping& m, const char* path, void* arg) {
  Walk& walk = *static_cast<Walk*>(arg);
  MapsRow out;
  out.prot = m.prot;
  out.shared = m.shared;
  bool file = m.inode != 0;
  GuestAddr at = m.begin;
  while (at < m.end) {
    // One row, unless the kernel has pieces of it under different names.
    walk.advance(at);
    const MapsRow& k = walk.row;
    bool here = k.end != 0 && k.begin <= at;
    bool named = here && name_starts(k, kAnonPrefix);
    out.begin = at;
    out.end = m.end;
    out.offset = file ? m.file_offset + (at - m.begin) : 0;
    out.major = file ? major_of(m.device) : 0;
    out.minor = file ? minor_of(m.device) : 0;
    out.inode = file ? m.inode : 0;
    out.name = path;
    out.name_bytes = strlen(path);
    char name[512];
    if (here && file) {
      out.major = k.major;
      out.minor = k.minor;
      out.inode = k.inode;
      out.name = k.name;
      out.name_bytes = k.name_bytes;
    } else if (named) {
      out.name = name;
      out.name_bytes = k.name_bytes < sizeof name ? k.name_bytes : sizeof name;
      memcpy(name, k.name, out.name_bytes);
    }
    if (!file && here) {
      // How far does this name go? Rows of the kernel's end also where the translator protects a page.
      while (walk.row.end != 0 && walk.row.end < m.end) {
        GuestAddr end = walk.row.end;
        walk.advance(end);
        bool next_named = walk.row.end != 0 && walk.row.begin == end && name_starts(walk.row, kAnonPrefix);
        bool same = named == next_named &&
                    (!named || (walk.row.name_bytes == out.name_bytes && memcmp(walk.row.name, name, out.name_bytes) == 0));
        if (!same) {
          out.end = end;
          break;
        }
      }
    }
    walk.visit(out, walk.arg);
    at = out.end;
  }
}

}  // namespace

SysResult for_each_row(void (*visit)(const MapsRow& row, void* arg), void* arg) {
  LineReader kernel("/proc/self/maps");
  if (kernel.error() != 0) return kernel.error();
  Walk walk{&kernel, {}, {}, visit, arg};
  walk.row.end = 1;  // so that the first row is read
  memory::for_each(visit_mapping, &walk);
  while (walk.row.end != 0) {
    if (name_starts(walk.row, "[vsyscall]")) visit(walk.row, arg);
    walk.advance(walk.row.end);
  }
  return 0;
}

SysResult write_maps(TextFile& to) {
  struct Output {
    TextFile* file;
    char* text;
  } output{&to, static_cast<char*>(engine_reserve(kLongestRow))};
  SysResult r = for_each_row(
      [](const MapsRow& row, void* arg) {
        auto* o = static_cast<Output*>(arg);
        o->file->write(o->text, format_row(o->text, row));
      },
      &output);
  engine_release(output.text, kLongestRow);
  return r;
}

}  // namespace detrec::guest::procfs
