#include "trace/guest/procfs/status_files.h"

#include "trace/guest/load/loaded_program.h"
#include "trace/guest/memory/guest_map.h"
#include "trace/guest/procfs/status_text.h"
#include "trace/guest/signal/actions.h"

namespace detrec::guest::procfs {
namespace {

constexpr u64 kLineBytes = 2048;

OwnFigures own_figures(const Thread& thread) {
  OwnFigures own{};
  memory::Totals totals = memory::totals();
  own.size = totals.size;
  own.peak = totals.peak;
  own.data = totals.data;
  own.stack = totals.stack;
  load::GuestRange code = load::code_range();
  own.code = page_up(code.end) - page_down(code.begin);
  own.libraries = totals.code > own.code ? totals.code - own.code : 0;
  own.pending = thread.signals.pending & thread.signals.blocked;
  own.blocked = thread.signals.blocked;
  if (const signal::Actions* actions = thread.signals.actions; actions != nullptr) {
    for (int i = 0; i < signal::kSignals; ++i) {
      u64 handler = actions->action[i].handler;
      if (handler == signal::kIgnored) {
        own.ignored |= 1ull << i;
      } else if (handler != signal::kDefault) {
        own.caught |= 1ull << i;
      }
    }
  }
  return own;
}

template <class F>
SysResult rewrite_lines(TextFile& to, i32 dirfd, const char* path, F rewrite) {
  LineReader reader(path, dirfd);
  if (reader.error() != 0) return reader.error();
  u64 n = 0;
  while (const char* line = reader.next(n)) {
    char out[kLineBytes];
    if (u64 written = rewrite(line, n, out); written != 0) {
      to.write(out, written);
    } else {
      to.write(line, n);
    }
    to.write("\n", 1);
  }
  return 0;
}

}  // namespace

SysResult write_stat(TextFile& to, const Thread& thread, i32 dirfd, const char* path) {
  OwnFigures own = own_figures(thread);
  return rewrite_lines(to, dirfd, path, [&](const char* line, u64 n, char* out) {
    return rewrite_stat(line, n, own, out, kLineBytes);
  });
}

SysResult write_status(TextFile& to, const Thread& thread, i32 dirfd, const char* path) {
  OwnFigures own = own_figures(thread);
  return rewrite_lines(to, dirfd, path, [&](const char* line, u64 n, char* out) -> u64 {
    if (!replace_status_line(line, n, own, out, kLineBytes)) return 0;
    u64 length = 0;
    while (out[length] != 0) ++length;
    return length;
  });
}

SysResult write_statm(TextFile& to, const Thread& thread, i32 dirfd, const char* path) {
  OwnFigures own = own_figures(thread);
  return rewrite_lines(to, dirfd, path, [&](const char* line, u64 n, char* out) {
    return rewrite_statm(line, n, own, out, kLineBytes);
  });
}

}  // namespace detrec::guest::procfs
