#include "trace/guest/procfs/maps_file.h"

#include "trace/guest/base/arena.h"
#include "trace/guest/base/string.h"
#include "trace/guest/memory/guest_map.h"

namespace detrec::guest::procfs {
namespace {

constexpr char kAnonPrefix[] = "[anon";  // [anon:name] and [anon_shmem:name], set with prctl(PR_SET_VMA)
constexpr u64 kLongestName = kLongestRow;

bool name_starts(const MapsRow& row, const char* prefix) {
  u64 n = strlen(prefix);
  return row.name_bytes >= n && memcmp(row.name, prefix, n) == 0;
}

/// A part of one guest mapping that lies in one row of the kernel's, or that the kernel does not have.
struct Piece {
  MapsRow row;           ///< as the guest is to see it
  u64 kernel_index = 0;  ///< which row of the kernel's, from 1; 0: none
  u32 kernel_prot = 0;
};

/// True when the guest sees one row where `b` follows `a`. What is one mapping in our map can be several
/// rows: the kernel also looks at which pages were touched. But a row that it cut only because the translator
/// protects a page stays whole.
bool one_row(const Piece& a, const Piece& b) {
  const MapsRow &x = a.row, &y = b.row;
  bool same = x.end == y.begin && x.prot == y.prot && x.shared == y.shared && x.major == y.major &&
              x.minor == y.minor && x.inode == y.inode && x.name_bytes == y.name_bytes &&
              memcmp(x.name, y.name, x.name_bytes) == 0 &&
              (x.inode == 0 || x.offset + (x.end - x.begin) == y.offset);
  return same && (a.kernel_index == b.kernel_index || a.kernel_prot != b.kernel_prot);
}

class Walk {
 public:
  Walk(LineReader& kernel, void (*visit)(const MapsRow&, void*), void* arg)
      : kernel_(kernel), visit_(visit), arg_(arg), name_(static_cast<char*>(engine_reserve(kLongestName))) {
    next_row();
  }
  ~Walk() { engine_release(name_, kLongestName); }
  Walk(const Walk&) = delete;
  Walk& operator=(const Walk&) = delete;

  void mapping(const memory::Mapping& m, const char* path) {
    for (GuestAddr at = m.begin; at < m.end;) {
      while (row_.end != 0 && row_.end <= at) next_row();
      Piece piece;
      bool here = row_.end != 0 && row_.begin <= at;
      fill(piece.row, m, path, at, here);
      if (here) {
        piece.row.end = row_.end < m.end ? row_.end : m.end;
        piece.kernel_index = index_;
        piece.kernel_prot = row_.prot;
      } else if (row_.end != 0 && row_.begin < m.end) {
        piece.row.end = row_.begin;
      }
      at = piece.row.end;
      emit(piece);
    }
  }

  /// The rest: what the kernel has beyond the guest's mappings.
  void finish() {
    flush();
    for (; row_.end != 0; next_row())
      if (name_starts(row_, "[vsyscall]")) visit_(row_, arg_);
  }

 private:
  void next_row() {
    u64 n = 0;
    const char* line = kernel_.next(n);
    row_.end = 0;
    if (line != nullptr && parse_row(line, n, row_)) ++index_;
  }

  void fill(MapsRow& out, const memory::Mapping& m, const char* path, GuestAddr at, bool here) const {
    bool file = m.inode != 0;
    out.begin = at;
    out.end = m.end;
    out.prot = m.prot;
    out.shared = m.shared;
    out.name = path;
    out.name_bytes = strlen(path);
    if (file) {
      out.offset = m.file_offset + (at - m.begin);
      out.major = here ? row_.major : major_of(m.device);
      out.minor = here ? row_.minor : minor_of(m.device);
      out.inode = here ? row_.inode : m.inode;
    }
    // The kernel knows what has been renamed or deleted since, and names given to anonymous memory.
    if (here && (file || name_starts(row_, kAnonPrefix))) {
      out.name = row_.name;
      out.name_bytes = row_.name_bytes;
    }
  }

  void emit(const Piece& piece) {
    if (pending_.row.end != 0 && one_row(pending_, piece)) {
      pending_.row.end = piece.row.end;
      pending_.kernel_index = piece.kernel_index;
      pending_.kernel_prot = piece.kernel_prot;
      return;
    }
    flush();
    pending_ = piece;  // the name lies in the reader's buffer: keep a copy
    if (pending_.row.name_bytes > kLongestName) pending_.row.name_bytes = kLongestName;
    memcpy(name_, piece.row.name, pending_.row.name_bytes);
    pending_.row.name = name_;
  }

  void flush() {
    if (pending_.row.end != 0) visit_(pending_.row, arg_);
    pending_ = {};
  }

  LineReader& kernel_;
  MapsRow row_;  ///< the kernel's current row; end 0: none left
  u64 index_ = 0;
  Piece pending_;
  void (*visit_)(const MapsRow&, void*);
  void* arg_;
  char* name_;
};

}  // namespace

SysResult for_each_row(void (*visit)(const MapsRow& row, void* arg), void* arg) {
  LineReader kernel("/proc/thread-self/maps");
  if (kernel.error() != 0) return kernel.error();
  Walk walk(kernel, visit, arg);
  memory::for_each(
      [](const memory::Mapping& m, const char* path, void* w) { static_cast<Walk*>(w)->mapping(m, path); },
      &walk);
  walk.finish();
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
