#include "trace/guest/procfs/status_text.h"

#include "trace/guest/base/print.h"
#include "trace/guest/base/string.h"

namespace detrec::guest::procfs {
namespace {

struct SizeLine {
  const char* name;
  u64 OwnFigures::*bytes;
};
constexpr SizeLine kSizes[] = {
    {"VmPeak:", &OwnFigures::peak}, {"VmSize:", &OwnFigures::size}, {"VmData:", &OwnFigures::data},
    {"VmStk:", &OwnFigures::stack}, {"VmExe:", &OwnFigures::code},  {"VmLib:", &OwnFigures::libraries},
};
constexpr SizeLine kSignals[] = {
    {"SigPnd:", &OwnFigures::pending},
    {"SigBlk:", &OwnFigures::blocked},
    {"SigIgn:", &OwnFigures::ignored},
    {"SigCgt:", &OwnFigures::caught},
};

bool line_is(const char* line, u64 n, const char* name) {
  u64 length = strlen(name);
  return n >= length && memcmp(line, name, length) == 0;
}

/// Copies the blank-separated fields of [line, line + n), some of them replaced. `replace(index, value)` says
/// which.
template <class F>
u64 rewrite_fields(const char* line, u64 n, char* to, u64 size, F replace) {
  u64 used = 0, at = 0;
  for (int index = 0; at < n; ++index) {
    u64 end = at;
    while (end < n && line[end] != ' ') ++end;
    u64 value = 0;
    if (replace(index, value)) {
      used += format(to + used, size - used, "%lu", value);
    } else if (end - at < size - used) {
      memcpy(to + used, line + at, end - at);
      used += end - at;
    }
    if (end < n && used + 1 < size) to[used++] = ' ';
    at = end + 1;
  }
  return used;
}

}  // namespace

bool replace_status_line(const char* line, u64 n, const OwnFigures& own, char* to, u64 size) {
  for (const SizeLine& s : kSizes) {
    if (!line_is(line, n, s.name)) continue;
    char number[24];
    u64 digits = format(number, sizeof number, "%lu", own.*s.bytes / 1024);
    char padding[9] = "        ";
    if (digits < 8) padding[8 - digits] = 0;
    format(to, size, "%s\t%s%s kB", s.name, digits < 8 ? padding : "", number);
    return true;
  }
  for (const SizeLine& s : kSignals) {
    if (!line_is(line, n, s.name)) continue;
    char mask[17];
    for (int i = 0; i < 16; ++i) mask[i] = "0123456789abcdef"[(own.*s.bytes >> (4 * (15 - i))) & 15];
    mask[16] = 0;
    format(to, size, "%s\t%s", s.name, mask);
    return true;
  }
  return false;
}

u64 rewrite_stat(const char* line, u64 n, const OwnFigures& own, char* to, u64 size) {
  // The name, in parentheses, may hold anything: fields are counted from behind it. Numbers are those of
  // proc(5).
  u64 head = n;
  while (head > 0 && line[head - 1] != ')') --head;
  if (head == 0 || head + 2 > n || head + 1 > size) {
    u64 copied = n < size ? n : size;
    memcpy(to, line, copied);
    return copied;
  }
  memcpy(to, line, head + 1);
  return head + 1 +
         rewrite_fields(line + head + 1, n - head - 1, to + head + 1, size - head - 1,
                        [&](int index, u64& value) {
                          constexpr u64 kOldSignals = 0x7fff'ffff;  // the classic ones only
                          switch (index + 3) {
                            case 23:
                              value = own.size;
                              return true;
                            case 31:
                              value = own.pending & kOldSignals;
                              return true;
                            case 32:
                              value = own.blocked & kOldSignals;
                              return true;
                            case 33:
                              value = own.ignored & kOldSignals;
                              return true;
                            case 34:
                              value = own.caught & kOldSignals;
                              return true;
                            default:
                              return false;
                          }
                        });
}

u64 rewrite_statm(const char* line, u64 n, const OwnFigures& own, char* to, u64 size) {
  return rewrite_fields(line, n, to, size, [&](int index, u64& value) {
    switch (index) {
      case 0:
        value = own.size / kPageSize;
        return true;
      case 3:
        value = own.code / kPageSize;
        return true;
      case 5:
        value = (own.data + own.stack) / kPageSize;
        return true;
      default:
        return false;
    }
  });
}

}  // namespace detrec::guest::procfs
