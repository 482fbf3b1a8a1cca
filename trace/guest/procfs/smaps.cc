// smaps and smaps_rollup: the kernel's figures, summed up over what is one row to the guest. Where the kernel
// has one row for several of the guest's (it knows no difference between code and read-only data), figures
// are shared out by size.
#include "trace/guest/base/arena.h"
#include "trace/guest/base/layout.h"
#include "trace/guest/base/print.h"
#include "trace/guest/base/string.h"
#include "trace/guest/procfs/maps_file.h"

namespace detrec::guest::procfs {
namespace {

constexpr int kMaxKeys = 40;
constexpr u32 kMaxEntries = 1u << 17;
constexpr u64 kKeyColumn = 16;  // "Rss:            " and eight columns of number follow

/// One row of the kernel's with its figures, in the order of the keys.
struct Entry {
  GuestAddr begin, end;
  u64 values[kMaxKeys];
  char flags[160];  ///< "VmFlags: ..." as it is
};

struct Key {
  char text[24];  ///< up to and including the colon
  bool kilobytes;
};

struct Figures {
  Entry* entries;
  u32 count;
  Key keys[kMaxKeys];
  int key_count;
};

bool key_is(const Key& key, const char* name) { return strncmp(key.text, name, strlen(name)) == 0; }

/// Not sums but properties: taken from the first entry.
bool is_property(const Key& key) {
  return key_is(key, "KernelPageSize:") || key_is(key, "MMUPageSize:") || key_is(key, "THPeligible:") ||
         key_is(key, "ProtectionKey:");
}

int key_index(Figures& f, const char* text, u64 n, bool kilobytes) {
  for (int i = 0; i < f.key_count; ++i)
    if (strlen(f.keys[i].text) == n && memcmp(f.keys[i].text, text, n) == 0) return i;
  if (f.key_count == kMaxKeys || n >= sizeof f.keys[0].text) return -1;
  Key& key = f.keys[f.key_count];
  memcpy(key.text, text, n);
  key.text[n] = 0;
  key.kilobytes = kilobytes;
  return f.key_count++;
}

void read_figure(Figures& f, Entry& entry, const char* line, u64 n) {
  u64 colon = 0;
  while (colon < n && line[colon] != ':') ++colon;
  if (colon == n) return;
  if (colon == 7 && memcmp(line, "VmFlags", 7) == 0) {
    u64 length = n < sizeof entry.flags - 1 ? n : sizeof entry.flags - 1;
    memcpy(entry.flags, line, length);
    entry.flags[length] = 0;
    return;
  }
  u64 at = colon + 1;
  while (at < n && line[at] == ' ') ++at;
  u64 value = 0;
  for (; at < n && line[at] >= '0' && line[at] <= '9'; ++at)
    value = value * 10 + static_cast<u64>(line[at] - '0');
  int i = key_index(f, line, colon + 1, at < n && line[at] == ' ');
  if (i >= 0) entry.values[i] = value;
}

SysResult read_figures(Figures& f) {
  LineReader reader("/proc/thread-self/smaps");
  if (reader.error() != 0) return reader.error();
  u64 n = 0;
  for (const char* line; (line = reader.next(n)) != nullptr;) {
    MapsRow row;
    if (parse_row(line, n, row)) {
      if (f.count == kMaxEntries) break;
      Entry& entry = f.entries[f.count++];
      entry.begin = row.begin;
      entry.end = row.end;
    } else if (f.count > 0) {
      read_figure(f, f.entries[f.count - 1], line, n);
    }
  }
  return 0;
}

struct Output {
  TextFile* file;
  Figures* figures;
  char* text;
  u32 at;  ///< the first entry that may matter to the next row
  bool rollup;
  u64 sums[kMaxKeys];  ///< rollup
  GuestAddr low, high;
};

void put_value(Output& o, const Key& key, u64 value) {
  char line[64];
  u64 n = strlen(key.text);
  memcpy(line, key.text, n);
  while (n < kKeyColumn) line[n++] = ' ';
  char digits[24];
  u64 d = format(digits, sizeof digits, "%lu", value);
  for (u64 i = d; i < 8; ++i) line[n++] = ' ';
  memcpy(line + n, digits, d);
  n += d;
  if (key.kilobytes) {
    memcpy(line + n, " kB", 3);
    n += 3;
  }
  line[n++] = '\n';
  o.file->write(line, n);
}

/// "VmFlags: rd mr mw me ...": the first three of rd wr ex are the guest's.
void put_flags(Output& o, const MapsRow& row, const char* flags) {
  if (*flags == 0) return;
  o.file->write("VmFlags: ", 9);
  if ((row.prot & 1) != 0) o.file->write("rd ", 3);
  if ((row.prot & 2) != 0) o.file->write("wr ", 3);
  if ((row.prot & 4) != 0) o.file->write("ex ", 3);
  for (const char* p = flags + 8; *p != 0;) {
    while (*p == ' ') ++p;
    const char* end = p;
    while (*end != 0 && *end != ' ') ++end;
    u64 n = static_cast<u64>(end - p);
    bool ours = n == 2 && (memcmp(p, "rd", 2) == 0 || memcmp(p, "wr", 2) == 0 || memcmp(p, "ex", 2) == 0);
    if (n > 0 && !ours) {
      o.file->write(p, n);
      o.file->write(" ", 1);
    }
    p = end;
  }
  o.file->write("\n", 1);
}

void visit_row(const MapsRow& row, void* arg) {
  Output& o = *static_cast<Output*>(arg);
  Figures& f = *o.figures;
  while (o.at < f.count && f.entries[o.at].end <= row.begin) ++o.at;
  u64 values[kMaxKeys] = {};
  const char* flags = "";
  bool first = true;
  for (u32 i = o.at; i < f.count && f.entries[i].begin < row.end; ++i) {
    const Entry& e = f.entries[i];
    u64 from = e.begin > row.begin ? e.begin : row.begin, to = e.end < row.end ? e.end : row.end;
    for (int k = 0; k < f.key_count; ++k) {
      if (is_property(f.keys[k])) {
        if (first) values[k] = e.values[k];
      } else {
        values[k] += e.values[k] * ((to - from) / kPageSize) / ((e.end - e.begin) / kPageSize);
      }
    }
    if (first) flags = e.flags;
    first = false;
  }
  for (int k = 0; k < f.key_count; ++k)
    if (key_is(f.keys[k], "Size:")) values[k] = (row.end - row.begin) / 1024;
  if (o.rollup) {
    if (row.begin >= kUserEnd) return;  // [vsyscall]
    if (o.low == 0) o.low = row.begin;
    o.high = row.end;
    for (int k = 0; k < f.key_count; ++k) o.sums[k] += values[k];
    return;
  }
  o.file->write(o.text, format_row(o.text, row));
  for (int k = 0; k < f.key_count; ++k) put_value(o, f.keys[k], values[k]);
  put_flags(o, row, flags);
}

void write_rollup(Output& o) {
  MapsRow row;
  row.begin = o.low;
  row.end = o.high;
  row.name = "[rollup]";
  row.name_bytes = strlen(row.name);
  u64 n = format_row(o.text, row);
  o.file->write(o.text, n);
  for (int k = 0; k < o.figures->key_count; ++k) {
    const Key& key = o.figures->keys[k];
    if (!is_property(key) && !key_is(key, "Size:")) put_value(o, key, o.sums[k]);
  }
}

}  // namespace

SysResult write_smaps(TextFile& to, bool rollup) {
  auto* figures = static_cast<Figures*>(engine_reserve(sizeof(Figures)));
  *figures = {};
  figures->entries = static_cast<Entry*>(engine_reserve(kMaxEntries * sizeof(Entry)));
  auto* output = static_cast<Output*>(engine_reserve(sizeof(Output)));
  *output = {};
  output->file = &to;
  output->figures = figures;
  output->text = static_cast<char*>(engine_reserve(kLongestRow));
  output->rollup = rollup;
  SysResult r = read_figures(*figures);
  if (r == 0) r = for_each_row(visit_row, output);
  if (r == 0 && rollup) write_rollup(*output);
  engine_release(output->text, kLongestRow);
  engine_release(figures->entries, kMaxEntries * sizeof(Entry));
  engine_release(output, sizeof(Output));
  engine_release(figures, sizeof(Figures));
  return r;
}

}  // namespace detrec::guest::procfs
