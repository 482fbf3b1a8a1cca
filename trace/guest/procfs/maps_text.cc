#include "trace/guest/procfs/maps_text.h"

#include "trace/guest/base/string.h"

namespace detrec::guest::procfs {
namespace {

/// seq_setwidth(): the name starts after this many columns and a blank.
constexpr u64 kNameColumn = 25 + sizeof(void*) * 6 - 1;

char* put_number(char* to, u64 value, unsigned base, int width, char pad) {
  char digits[24];
  int n = 0;
  do {
    digits[n++] = "0123456789abcdef"[value % base];
    value /= base;
  } while (value != 0);
  for (int i = n; i < width; ++i) *to++ = pad;
  while (n > 0) *to++ = digits[--n];
  return to;
}

struct Cursor {
  const char* at;
  const char* end;
  bool ok = true;

  u64 number(unsigned base) {
    u64 value = 0;
    const char* start = at;
    for (; at != end; ++at) {
      unsigned digit;
      if (*at >= '0' && *at <= '9') {
        digit = static_cast<unsigned>(*at - '0');
      } else if (*at >= 'a' && *at <= 'f') {
        digit = static_cast<unsigned>(*at - 'a' + 10);
      } else {
        break;
      }
      if (digit >= base) break;
      value = value * base + digit;
    }
    if (at == start) ok = false;
    return value;
  }
  char next() {
    if (at == end) {
      ok = false;
      return 0;
    }
    return *at++;
  }
  void expect(char c) {
    if (next() != c) ok = false;
  }
};

}  // namespace

u64 format_row(char* to, const MapsRow& row) {
  char* p = put_number(to, row.begin, 16, 8, '0');
  *p++ = '-';
  p = put_number(p, row.end, 16, 8, '0');
  *p++ = ' ';
  *p++ = (row.prot & 1) != 0 ? 'r' : '-';
  *p++ = (row.prot & 2) != 0 ? 'w' : '-';
  *p++ = (row.prot & 4) != 0 ? 'x' : '-';
  *p++ = row.shared ? 's' : 'p';
  *p++ = ' ';
  p = put_number(p, row.offset, 16, 8, '0');
  *p++ = ' ';
  p = put_number(p, row.major, 16, 2, '0');
  *p++ = ':';
  p = put_number(p, row.minor, 16, 2, '0');
  *p++ = ' ';
  p = put_number(p, row.inode, 10, 1, ' ');
  *p++ = ' ';
  if (row.name_bytes != 0) {
    while (static_cast<u64>(p - to) < kNameColumn) *p++ = ' ';
    *p++ = ' ';
    memcpy(p, row.name, row.name_bytes);
    p += row.name_bytes;
  }
  *p++ = '\n';
  return static_cast<u64>(p - to);
}

bool parse_row(const char* line, u64 n, MapsRow& row) {
  Cursor c{line, line + n};
  row.begin = c.number(16);
  c.expect('-');
  row.end = c.number(16);
  c.expect(' ');
  row.prot = 0;
  if (c.next() == 'r') row.prot |= 1;
  if (c.next() == 'w') row.prot |= 2;
  if (c.next() == 'x') row.prot |= 4;
  row.shared = c.next() == 's';
  c.expect(' ');
  row.offset = c.number(16);
  c.expect(' ');
  row.major = static_cast<u32>(c.number(16));
  c.expect(':');
  row.minor = static_cast<u32>(c.number(16));
  c.expect(' ');
  row.inode = c.number(10);
  if (!c.ok) return false;
  while (c.at != c.end && *c.at == ' ') ++c.at;
  row.name = c.at;
  row.name_bytes = static_cast<u64>(c.end - c.at);
  return true;
}

}  // namespace detrec::guest::procfs
