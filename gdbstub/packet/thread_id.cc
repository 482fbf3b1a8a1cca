#include "gdbstub/packet/thread_id.h"

#include <limits>

#include "gdbstub/packet/hex.h"

namespace detrec::gdbstub::packet {

namespace {

std::optional<std::int64_t> read_id(Cursor& cursor) {
  if (cursor.take("-1")) return ThreadSelector::kAll;
  const auto value = cursor.number();
  if (!value || *value > std::uint64_t{std::numeric_limits<std::int32_t>::max()}) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

}  // namespace

std::optional<ThreadSelector> read_thread(Cursor& cursor) {
  ThreadSelector selector;
  if (!cursor.take('p')) {
    const auto thread = read_id(cursor);
    if (!thread) return std::nullopt;
    selector.thread = *thread;
    return selector;
  }
  const auto process = read_id(cursor);
  if (!process) return std::nullopt;
  selector.process = *process;
  selector.thread = ThreadSelector::kAll;
  if (!cursor.take('.')) return selector;
  const auto thread = read_id(cursor);
  if (!thread) return std::nullopt;
  selector.thread = *thread;
  return selector;
}

std::string thread_text(ThreadRef thread, bool multiprocess) {
  const auto tid = hex_number(static_cast<std::uint32_t>(thread.thread.value));
  return multiprocess ? "p" + hex_number(static_cast<std::uint32_t>(thread.process.value)) + "." + tid : tid;
}

}  // namespace detrec::gdbstub::packet
