#include "server/core/sched/run_queue.h"

#include <fmt/core.h>

#include <algorithm>

namespace detrec::core {

RunQueue::RunQueue(Arena& arena, const QueueConfig& config, LogSink* log)
    : arena_(&arena), config_(config), log_(log) {
  header().choice = RandomStream::derive(config.seed, 1);
  header().stickiness = RandomStream::derive(config.seed, 2);
  header().post_fork = RandomStream::derive(config.seed, 3);
  if (log_ != nullptr)
    log_->line(LogLevel::kInfo, fmt::format("run queue: scheduler seed {:#x}", config.seed));
}

void RunQueue::log_draw(const char* what, std::uint64_t range, std::uint64_t result) {  // RUNQ-13
  if (log_ != nullptr)
    log_->line(LogLevel::kInfo, fmt::format("run queue: {} draw in [0,{}) = {}", what, range, result));
}

std::optional<ThreadId> RunQueue::row_tid(Row row) const {
  if (row == kNoRow) return std::nullopt;
  return node(row).tid;
}

bool RunQueue::before(Row a, Row b) const {  // RUNQ-3
  if (node(a).priority != node(b).priority) return node(a).priority < node(b).priority;
  return node(a).order < node(b).order;
}

void RunQueue::update(Row row) {
  QueueNode& n = node(row);
  n.size = 1;
  n.unfilled = owes(row) ? 1 : 0;
  if (n.left != kNoRow) n.size += node(n.left).size, n.unfilled += node(n.left).unfilled;
  if (n.right != kNoRow) n.size += node(n.right).size, n.unfilled += node(n.right).unfilled;
}

bool RunQueue::owes(Row row) const { return node(row).unfilled_self && !node(row).removing; }

void RunQueue::add_up(Row row, std::uint32_t size, std::uint32_t unfilled) {
  for (; row != kNoRow; row = node(row).parent) {
    node(row).size += size;  // negative amounts wrap
    node(row).unfilled += unfilled;
  }
}

void RunQueue::rotate_up(Row row) {
  const Row parent = node(row).parent;
  const Row grand = node(parent).parent;
  Row& link =
      grand == kNoRow ? header().root : (node(grand).left == parent ? node(grand).left : node(grand).right);
  Row inner;
  if (node(parent).left == row) {
    inner = node(parent).left = node(row).right;
    node(row).right = parent;
  } else {
    inner = node(parent).right = node(row).left;
    node(row).left = parent;
  }
  if (inner != kNoRow) node(inner).parent = parent;
  node(parent).parent = row;
  node(row).parent = grand;
  link = row;
  update(parent);
  update(row);
}

void RunQueue::insert(ThreadId tid, Priority p, std::int64_t order) {
  check(!selection_open(), "a push while a selection is open");
  const Row row = arena_->obtain(tid);
  QueueNode& n = node(row);
  if (n.queued) fatal("thread {} is queued twice", tid.value);
  n.left = n.right = n.parent = kNoRow;
  n.priority = p;
  n.order = order;
  n.queued = true;
  n.unfilled_self = !arena_->turn(row).request.filled();
  n.heap = static_cast<std::uint32_t>(RandomStream::mix(header().pushes + 0x1234567u) >> 32);
  Row parent = kNoRow;
  for (Row at = header().root; at != kNoRow;) {
    parent = at;
    at = before(row, at) ? node(at).left : node(at).right;
  }
  n.size = 1;
  n.unfilled = owes(row) ? 1 : 0;
  n.parent = parent;
  if (parent == kNoRow) {
    header().root = row;
  } else {
    (before(row, parent) ? node(parent).left : node(parent).right) = row;
  }
  add_up(parent, 1, n.unfilled);
  while (n.parent != kNoRow && node(n.parent).heap < n.heap) rotate_up(row);
}

void RunQueue::unlink(Row row) {
  QueueNode& n = node(row);
  while (n.left != kNoRow || n.right != kNoRow) {
    const bool left = n.right == kNoRow || (n.left != kNoRow && node(n.left).heap > node(n.right).heap);
    rotate_up(left ? n.left : n.right);
  }
  const Row parent = n.parent;
  if (parent == kNoRow) {
    header().root = kNoRow;
  } else {
    (node(parent).left == row ? node(parent).left : node(parent).right) = kNoRow;
    add_up(parent, 0u - 1u, owes(row) ? 0u - 1u : 0u);
  }
  n.parent = kNoRow;
  n.queued = false;
}

void RunQueue::detach(Row row) {
  if (node(row).poll_normal.value != 0) poll_unlink(row);
  unlink(row);
}

void RunQueue::poll_link(Row row) {
  QueueHeader& h = header();
  node(row).poll_prev = kNoRow;
  node(row).poll_next = h.poll_head;
  if (h.poll_head != kNoRow) node(h.poll_head).poll_prev = row;
  h.poll_head = row;
}

void RunQueue::poll_unlink(Row row) {
  QueueNode& n = node(row);
  (n.poll_prev == kNoRow ? header().poll_head : node(n.poll_prev).poll_next) = n.poll_next;
  if (n.poll_next != kNoRow) node(n.poll_next).poll_prev = n.poll_prev;
  n.poll_prev = n.poll_next = kNoRow;
  n.poll_normal = {};
}

void RunQueue::count_push() {
  // RUNQ-7: pollers cannot starve.
  if (++header().pushes % 200 != 0) return;
  while (header().poll_head != kNoRow) {
    const Row row = header().poll_head;
    const Priority normal = node(row).poll_normal;
    const std::int64_t order = node(row).order;
    detach(row);
    insert(node(row).tid, normal, order);
  }
}

void RunQueue::push_back(ThreadId tid, Priority p) {
  if (!valid_priority(p)) fatal("priority {} of thread {} is out of range", p.value, tid.value);
  insert(tid, p, ++header().next_back);
  count_push();
}

void RunQueue::push_front(ThreadId tid, Priority p) {
  if (!valid_priority(p)) fatal("priority {} of thread {} is out of range", p.value, tid.value);
  insert(tid, p, --header().next_front);
  count_push();
}

void RunQueue::push_eager(ThreadId tid) {
  insert(tid, kEagerPriority, --header().next_front);
  count_push();
}

void RunQueue::push_poll(ThreadId tid, std::uint32_t attempt) {
  const Priority normal = persistent(tid);
  std::uint64_t band = normal.value;
  for (std::uint32_t i = 0; i < attempt && band < kLastPriority.value; ++i) band *= 2;
  band = std::min<std::uint64_t>(band, kLastPriority.value);
  insert(tid, {static_cast<std::uint32_t>(band)}, ++header().next_back);
  const Row row = arena_->find(tid);
  node(row).poll_normal = normal;
  poll_link(row);
  count_push();
}

void RunQueue::push_yield(ThreadId tid) {
  check(header().yielded == kNoRow, "a second yield while one is pending");
  push_back(tid);
  header().yielded = arena_->find(tid);
}

Row RunQueue::first() const {
  Row row = header().root;
  while (row != kNoRow && node(row).left != kNoRow) row = node(row).left;
  return row;
}

Row RunQueue::kth(std::uint32_t k) const {
  Row row = header().root;
  for (;;) {
    const std::uint32_t left = node(row).left == kNoRow ? 0 : node(node(row).left).size;
    if (k == left) return row;
    if (k < left) {
      row = node(row).left;
    } else {
      k -= left + 1;
      row = node(row).right;
    }
  }
}

std::uint32_t RunQueue::rank(Row row) const {
  std::uint32_t r = node(row).left == kNoRow ? 0 : node(node(row).left).size;
  for (Row at = row; node(at).parent != kNoRow; at = node(at).parent) {
    const Row parent = node(at).parent;
    if (node(parent).right == at) r += 1 + (node(parent).left == kNoRow ? 0 : node(node(parent).left).size);
  }
  return r;
}

Row RunQueue::draw_eligible() {
  const Row excluded = size() > 1 ? header().yielded : kNoRow;
  const bool skip = excluded != kNoRow && node(excluded).queued;
  const std::uint32_t range = size() - (skip ? 1 : 0);
  auto k = static_cast<std::uint32_t>(header().choice.below(range));
  log_draw("choice", range, k);
  if (skip && k >= rank(excluded)) ++k;
  return kth(k);
}

std::optional<ThreadId> RunQueue::select() {
  check(!selection_open(), "a second selection while one is open");
  if (empty()) return std::nullopt;
  Row row = kNoRow;
  const Row excluded = size() > 1 ? header().yielded : kNoRow;
  switch (config_.policy) {
    case QueuePolicy::kRoundRobin:
    case QueuePolicy::kConnectBind:
      row = first();
      if (row == excluded) row = kth(1);
      break;
    case QueuePolicy::kRandom:
      row = draw_eligible();
      break;
    case QueuePolicy::kStickyRandom:
      row = header().sticky;
      if (row == kNoRow || !node(row).queued || row == excluded) row = draw_eligible();
      header().sticky = row;
      break;
  }
  header().tentative = row;
  return node(row).tid;
}

std::optional<ThreadId> RunQueue::select_exact(ThreadId tid) {
  check(!selection_open(), "a second selection while one is open");
  const Row row = arena_->find(tid);
  if (row == kNoRow || !node(row).queued) return std::nullopt;
  header().tentative = row;
  return tid;
}

void RunQueue::commit(CommitKind kind) {
  check(selection_open(), "a commit without selection");
  QueueHeader& h = header();
  const Row row = h.tentative;
  h.tentative = kNoRow;
  if (h.yielded != kNoRow && (h.yielded == row || kind == CommitKind::kCompletedTurn)) h.yielded = kNoRow;
  if (config_.policy == QueuePolicy::kStickyRandom) {
    const double r = h.stickiness.unit();
    if (log_ != nullptr)
      log_->line(LogLevel::kInfo, fmt::format("run queue: stickiness draw in [0,1) = {}", r));
    if (r <= 1.0 - config_.sticky) h.sticky = kNoRow;
  }
  detach(row);
}

void RunQueue::undo() {
  check(selection_open(), "an undo without selection");
  header().tentative = kNoRow;
}

std::optional<ThreadId> RunQueue::selected() const { return row_tid(header().tentative); }

bool RunQueue::remove(ThreadId tid) {
  check(!selection_open(), "a removal while a selection is open");
  const Row row = arena_->find(tid);
  if (row == kNoRow) return false;
  if (header().yielded == row) header().yielded = kNoRow;
  if (header().sticky == row) header().sticky = kNoRow;
  if (!node(row).queued) return false;
  detach(row);
  return true;
}

std::optional<SuspendedEntry> RunQueue::suspend(ThreadId tid) {
  const Row row = arena_->find(tid);
  if (row == kNoRow || !node(row).queued) return std::nullopt;
  const QueueNode& n = node(row);
  const SuspendedEntry entry{n.priority, n.order, n.poll_normal, n.persistent};
  remove(tid);
  return entry;
}

void RunQueue::restore(ThreadId tid, const SuspendedEntry& entry) {
  const Row row = arena_->obtain(tid);
  const Priority now = node(row).persistent;
  const bool changed = now != entry.persistent;
  insert(tid, changed ? now : entry.priority, entry.order);
  if (entry.poll_normal.value != 0) {
    node(row).poll_normal = changed ? now : entry.poll_normal;
    poll_link(row);
  }
}

Priority RunQueue::persistent(ThreadId tid) const {
  const Row row = arena_->find(tid);
  if (row == kNoRow || node(row).persistent.value == 0)
    fatal("thread {} has no persistent priority", tid.value);
  return node(row).persistent;
}

bool RunQueue::has_persistent(ThreadId tid) const {
  const Row row = arena_->find(tid);
  return row != kNoRow && node(row).persistent.value != 0;
}

void RunQueue::set_persistent(ThreadId tid, Priority p) {
  if (!valid_priority(p)) fatal("priority {} of thread {} is out of range", p.value, tid.value);
  const Row row = arena_->obtain(tid);
  node(row).persistent = p;
}

void RunQueue::clear_persistent(ThreadId tid) {
  if (const Row row = arena_->find(tid); row != kNoRow) node(row).persistent = {};
}

void RunQueue::move_to(ThreadId tid, Priority p) {
  set_persistent(tid, p);
  if (remove(tid)) push_back(tid, p);
}

bool RunQueue::contains(ThreadId tid) const {
  const Row row = arena_->find(tid);
  return row != kNoRow && node(row).queued;
}

std::optional<Priority> RunQueue::queued_priority(ThreadId tid) const {
  if (!contains(tid)) return std::nullopt;
  return node(arena_->find(tid)).priority;
}

std::optional<std::int64_t> RunQueue::order(ThreadId tid) const {
  if (!contains(tid)) return std::nullopt;
  return node(arena_->find(tid)).order;
}

std::optional<Priority> RunQueue::poll_memory(ThreadId tid) const {
  const Row row = arena_->find(tid);
  if (row == kNoRow || node(row).poll_normal.value == 0) return std::nullopt;
  return node(row).poll_normal;
}

bool RunQueue::other_work(ThreadId tid) const {
  const std::uint32_t n = std::min<std::uint32_t>(size(), 2);
  for (std::uint32_t k = 0; k < n; ++k) {
    const QueueNode& candidate = node(kth(k));
    if (candidate.tid != tid) return candidate.priority < kLastPriority;
  }
  return false;
}

bool RunQueue::only_last_priority() const {
  const Row row = first();
  return row == kNoRow || node(row).priority >= kLastPriority;
}

std::vector<ThreadId> RunQueue::in_order() const {
  std::vector<ThreadId> out;
  for (std::uint32_t k = 0; k < size(); ++k) out.push_back(node(kth(k)).tid);
  return out;
}

void RunQueue::set_unfilled(Row row, bool unfilled) {
  const bool before = owes(row);
  node(row).unfilled_self = unfilled;
  owing_changed(row, before);
}

void RunQueue::set_removing(Row row, bool removing) {
  const bool before = owes(row);
  node(row).removing = removing;
  owing_changed(row, before);
}

void RunQueue::owing_changed(Row row, bool before) {
  if (owes(row) != before && node(row).queued) add_up(row, 0, before ? 0u - 1u : 1u);
}

std::optional<ThreadId> RunQueue::first_unfilled() const {
  Row row = header().root;
  if (row == kNoRow || node(row).unfilled == 0) return std::nullopt;
  for (;;) {
    const QueueNode& n = node(row);
    if (n.left != kNoRow && node(n.left).unfilled != 0) {
      row = n.left;
    } else if (n.unfilled_self && !n.removing) {
      return n.tid;
    } else {
      row = n.right;
    }
  }
}

bool RunQueue::draw_post_fork_front(PostForkPolicy policy) {
  if (policy != PostForkPolicy::kRandom) return policy == PostForkPolicy::kChildFirst;
  const std::uint64_t draw = header().post_fork.below(2);
  log_draw("post-fork", 2, draw);
  return draw == 0;
}

}  // namespace detrec::core
