#include "tests/unit/syscalls/canary.h"

#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace detrec::syscalls::test {
namespace {

constexpr std::size_t kGap = 96;  // between buffers, to see writes beyond them

struct Attempt {
  std::int64_t result = 0;
  std::vector<bool> changed;   // per byte of the arena
  std::vector<bool> said;      // for_each_written
  std::vector<bool> writable;  // for_each_writable
  std::vector<bool> known;
  std::vector<std::string> errors;
};

// One line for each run of marked bytes.
void report(const std::string& what, const std::vector<bool>& bytes, Finding& finding) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (!bytes[i]) continue;
    const std::size_t first = i;
    while (i < bytes.size() && bytes[i]) ++i;
    finding.errors.push_back(what + ": bytes " + std::to_string(first) + " to " + std::to_string(i - 1));
  }
}

void mark(const Arena& arena, const Range& range, std::vector<bool>& bytes) {
  const std::uint64_t begin = std::max(range.address, arena.address());
  const std::uint64_t limit = arena.address() + Arena::kSize;
  const std::uint64_t end =
      range.size > limit - std::min(limit, range.address) ? limit : range.address + range.size;
  for (std::uint64_t address = begin; address < end; ++address) bytes[address - arena.address()] = true;
}

// Reads this process's memory without faulting.
bool read_memory(const Arena& arena, std::uint64_t address, void* to, std::size_t size) {
  if (arena.contains(address, size)) {
    std::memcpy(to, reinterpret_cast<const void*>(address), size);
    return true;
  }
  iovec local{to, size};
  iovec remote{reinterpret_cast<void*>(address), size};
  return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(size);
}

Attempt attempt(const Case& one, Arena& arena, std::uint8_t filling, int described_as) {
  Attempt outcome;
  arena.reset(filling);
  const Call prepared = one.prepare(arena);
  std::uint64_t args[kMaxArgs];
  std::copy(std::begin(prepared.args), std::end(prepared.args), std::begin(args));
  const int nr = described_as >= 0 ? described_as : static_cast<int>(prepared.nr);

  outcome.changed.resize(Arena::kSize);
  outcome.said.resize(Arena::kSize);
  outcome.writable.resize(Arena::kSize);
  outcome.known.resize(Arena::kSize);
  for (std::size_t i = 0; i < Arena::kSize; ++i) outcome.known[i] = arena.known(i);

  auto read = [&](std::uint64_t address, void* to, std::size_t size) {
    return read_memory(arena, address, to, size);
  };
  const Reader reader = reader_of(read);
  Before before{};
  capture_before(nr, args, reader, before);
  before.external_count = prepared.external_count;
  auto visit_writable = [&](const Range& range) { mark(arena, range, outcome.writable); };
  if (!for_each_writable(nr, args, reader, visitor_of(visit_writable), &before)) {
    outcome.errors.push_back("for_each_writable is incomplete");
  }
  auto visit_read = [](const Range&) {};
  if (!for_each_read(nr, args, reader, visitor_of(visit_read), &before)) {
    outcome.errors.push_back("for_each_read is incomplete");
  }

  const std::vector<std::uint8_t> snapshot(arena.data(), arena.data() + Arena::kSize);
  outcome.result = raw_syscall(prepared.nr, args);
  for (std::size_t i = 0; i < Arena::kSize; ++i) outcome.changed[i] = arena.data()[i] != snapshot[i];

  auto visit_said = [&](const Range& range) {
    if (range.size == 0) outcome.errors.push_back("an empty range was visited");
    if (!arena.contains(range.address, range.size))
      outcome.errors.push_back("a range lies outside the arguments");
    mark(arena, range, outcome.said);
  };
  if (!for_each_written(nr, args, outcome.result, &before, reader, visitor_of(visit_said))) {
    outcome.errors.push_back("for_each_written is incomplete");
  }
  const bool as_expected = prepared.expect == 0 ? outcome.result >= 0 : outcome.result == prepared.expect;
  if (!as_expected) outcome.errors.push_back("result is " + std::to_string(outcome.result));
  if (prepared.clean_up) prepared.clean_up();
  return outcome;
}

}  // namespace

std::int64_t raw_syscall(long nr, const std::uint64_t (&args)[kMaxArgs]) {
  std::int64_t result;
  register std::uint64_t r10 asm("r10") = args[3];
  register std::uint64_t r8 asm("r8") = args[4];
  register std::uint64_t r9 asm("r9") = args[5];
  asm volatile("syscall"
               : "=a"(result)
               : "a"(nr), "D"(args[0]), "S"(args[1]), "d"(args[2]), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

Arena::Arena() : known_(kSize) {
  void* place = mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED) std::abort();
  memory_ = static_cast<std::uint8_t*>(place);
}

Arena::~Arena() { munmap(memory_, kSize); }

void Arena::reset(std::uint8_t filling) {
  std::memset(memory_, filling, kSize);
  std::fill(known_.begin(), known_.end(), false);
  used_ = kGap;
}

std::uint8_t* Arena::out(std::size_t size) {
  std::uint8_t* place = memory_ + used_;
  used_ += (size + 15) / 16 * 16 + kGap;
  if (used_ > kSize) {
    std::fputs("arena exhausted\n", stderr);
    std::abort();
  }
  return place;
}

const char* Arena::text(const std::string& value) {
  std::uint8_t* place = out(value.size() + 1);
  std::memcpy(place, value.c_str(), value.size() + 1);
  mark_known(place, value.size() + 1);
  return reinterpret_cast<const char*>(place);
}

void Arena::hold(const void* place, std::size_t size) {
  mark_known(static_cast<const std::uint8_t*>(place), size);
}

void Arena::mark_known(const std::uint8_t* place, std::size_t size) {
  const auto first = static_cast<std::size_t>(place - memory_);
  for (std::size_t i = 0; i < size; ++i) known_[first + i] = true;
}

Finding compare_with_table(const Case& one, int described_as) {
  Arena arena;
  const Attempt zeros = attempt(one, arena, 0x00, described_as);
  Finding finding;
  finding.result = zeros.result;
  for (const int error : one.lacking) {
    if (zeros.result == -error) {
      finding.lacks = error;
      return finding;
    }
  }
  const Attempt ones = attempt(one, arena, 0xff, described_as);
  for (const Attempt* each : {&zeros, &ones}) {
    finding.errors.insert(finding.errors.end(), each->errors.begin(), each->errors.end());
  }
  std::vector<bool> undescribed(Arena::kSize);
  std::vector<bool> unwritable(Arena::kSize);
  std::vector<bool> untouched(Arena::kSize);
  for (std::size_t i = 0; i < Arena::kSize; ++i) {
    for (const Attempt* each : {&zeros, &ones}) {
      if (each->changed[i] && !each->said[i]) undescribed[i] = true;
      if (each->said[i] && !each->writable[i]) unwritable[i] = true;
    }
    finding.written += zeros.changed[i] || ones.changed[i];
    finding.said += zeros.said[i] || ones.said[i];
    const bool unseen = zeros.known[i] || ones.known[i];
    untouched[i] = !unseen && zeros.said[i] && ones.said[i] && !zeros.changed[i] && !ones.changed[i];
  }
  report("written, but the table does not say so", undescribed, finding);
  report("said to be written, but not to be writable", unwritable, finding);
  if (one.slack.empty()) report("not written, but the table says so", untouched, finding);
  return finding;
}

}  // namespace detrec::syscalls::test
