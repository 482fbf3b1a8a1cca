// Runs random code and prints, a line for each sequence, what it did: natively and under the engine the lines
// must be the same.
//
//     random_code --seed N [--first N] [--count N] [--place NAME]... [--drop ITEM,...] [--skip NUMBER,...]
//     [--verbose] [--exotic] [--interrupt MICROSECONDS]
//
// --place        only these placements (low, low-writable, low-busy, low-alias, low-file, high,
// high-writable, high-busy)
// --drop         leave these items of every sequence out (for shrinking)
// --skip         do not run these sequences
// --verbose      print items, code, faults and the whole final state
// --no-watchdog  no signals from outside
// --interrupt    a signal from outside so often
// --exotic       more instructions that store or load processor state; ID and NT
#include <sys/personality.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "tests/fuzz/translator/areas.h"
#include "tests/fuzz/translator/code_memory.h"
#include "tests/fuzz/translator/cpu_state.h"
#include "tests/fuzz/translator/faults.h"
#include "tests/fuzz/translator/program_builder.h"

namespace detrec::fuzz {
namespace {

struct Options {
  u64 seed = 1;
  u64 first = 0;
  u64 count = 1000;
  std::vector<Placement> placements;
  std::vector<bool> dropped;
  std::vector<bool> skipped;
  bool verbose = false;
  bool exotic = false;
  bool watchdog = true;
  unsigned interrupt_every = 0;
};

struct Sequence {
  Placement placement;
  Roles roles;
  Program program;
  Layout layout;
  u64 seed;
};

constexpr u64 kInterruptFlag = 0x202;

Roles draw_roles(Random& random, Placement placement, bool exotic) {
  Roles roles{};
  u8 chosen[5];
  for (unsigned n = 0; n < 5;) {
    const u8 reg = static_cast<u8>(random.below(16));
    bool taken = reg == guest::kRsp;
    for (unsigned i = 0; i < n; ++i) taken = taken || chosen[i] == reg;
    if (!taken) chosen[n++] = reg;
  }
  std::memcpy(roles.pointers, chosen, sizeof roles.pointers);
  roles.index = chosen[3];
  roles.loop = chosen[4];
  roles.low_code = is_low(placement);
  roles.low_data = random.chance(roles.low_code ? 70 : 40);
  roles.exotic = exotic || random.chance(12);
  return roles;
}

u64 draw_register(Random& random) {
  const u64 bits = random.next();
  switch (random.below(8)) {
    case 0:
      return bits & 0xff;
    case 1:
      return random.pick({0, 1, 0x7f, 0x80, 0x7fff, 0x8000, 0x7fffffff, 0x80000000, 0xffffffff});
    case 2:
      return 0ull - (bits & 0xff);
    case 3:
      return (bits & 1) != 0 ? 0x7fffffffffffffff : 0x8000000000000000;
    case 4:
    case 5:
      return data_address(random, (bits & 1) != 0, 8);
    default:
      return bits;
  }
}

void draw_entry_state(Random& random, const Roles& roles, u64 entry) {
  CpuState& state = entry_state;
  for (u64& reg : state.gpr) reg = draw_register(random);
  for (const u8 reg : roles.pointers) {
    const u64 area = roles.low_data ? random.pick(kLowData) : random.pick(kHighData);
    state.gpr[reg] = area + (random.chance(90) ? 64 * random.between(8, 100) : random.between(512, 6000));
  }
  state.gpr[roles.index] = random.below(32);
  state.gpr[roles.loop] = random.below(4);
  const u64 stack = random.chance(50) ? kLowStack : kHighStack;
  state.gpr[guest::kRsp] =
      stack + kStackSize / 2 + 8 * random.below(64) + (random.chance(3) ? random.below(8) : 0);
  state.rflags = kInterruptFlag | (random.next() & kStatusFlags);
  state.pc = entry;
  set_random_vectors(random);
}

Sequence make_sequence(const Options& options, u64 number) {
  Sequence s;
  s.seed = mix(options.seed * 0x1'0000'0000 + number);
  Random random(s.seed);
  const u64 placement = random.next();
  s.placement = options.placements.empty() ? static_cast<Placement>(placement % kPlacements)
                                           : options.placements[placement % options.placements.size()];
  s.roles = draw_roles(random, s.placement, options.exotic);
  s.program = build_program(random, s.roles, is_writable(s.placement));
  // The same place, however many items are dropped.
  Random place(mix(s.seed + 1));
  reset_areas(s.seed, place.below(kMostFuel), kReturns);
  const u64 size = lay_out(s.program, 0).code.size();
  const u64 address = choose_address(place, s.placement, size);
  for (std::size_t i = 0; i < s.program.items.size(); ++i)
    s.program.items[i].dropped = i < options.dropped.size() && options.dropped[i];
  s.layout = lay_out(s.program, address);
  const u64 exit = reinterpret_cast<u64>(&leave_sequence);
  std::memcpy(reinterpret_cast<void*>(kExit), &exit, sizeof exit);
  write_code(s.placement, address, s.layout.code);
  draw_entry_state(place, s.roles, s.layout.entry);
  return s;
}

const char* const kRegisters[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                  "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};

void print_registers(const u64* gpr) {
  for (int i = 0; i < 16; ++i)
    std::printf("%s%s=%lx%s", i % 4 == 0 ? "    " : " ", kRegisters[i], gpr[i], i % 4 == 3 ? "\n" : "");
}

void print_sequence(const Sequence& s) {
  std::printf("place %s entry %lx\n", name(s.placement), s.layout.entry);
  for (std::size_t i = 0; i < s.program.items.size(); ++i) {
    const Item& item = s.program.items[i];
    if (item.dropped) continue;
    const u64 begin = s.layout.item_address[i], end = s.layout.item_address[i + 1];
    std::printf("item %zu %lx ", i, begin);
    for (u64 at = begin; at < end; ++at) std::printf("%02x", s.layout.code[at - s.layout.item_address[0]]);
    std::printf(" %s\n", item.what.c_str());
  }
  std::printf("  entry flags %lx\n", entry_state.rflags);
  print_registers(entry_state.gpr);
}

void print_vectors(const VectorState& v) {
  u64 x87[4];
  std::memcpy(x87, v.legacy, sizeof x87);
  std::printf("    x87 %016lx pc %lx data %lx mxcsr %lx\n", x87[0], x87[1], x87[2], x87[3]);
  for (u64 i = 0; i < sizeof v; i += 16) {
    u64 words[2];
    std::memcpy(words, reinterpret_cast<const u8*>(&v) + i, sizeof words);
    std::printf("    vectors+%03lx %016lx %016lx\n", i, words[0], words[1]);
  }
}

void print_outcome(const Outcome& outcome, const VectorState& v) {
  for (const Fault& f : outcome.faults) {
    std::printf("  fault signal %d code %d address %lx trap %lu error %lx pc %lx flags %lx vectors %016lx\n",
                f.signo, f.code, f.address, f.trap, f.error, f.pc, f.flags, f.vectors);
    std::printf("    x87 %016lx pc %lx data %lx mxcsr %lx\n", f.x87[0], f.x87[1], f.x87[2], f.x87[3]);
    print_registers(f.gpr);
  }
  if (outcome.end != Outcome::End::kLeft) return;
  std::printf("  final flags %lx\n", exit_state.rflags);
  print_registers(exit_state.gpr);
  print_vectors(v);
  print_areas();
}

/// A repeated store that overwrites itself: the processor stops at its new self, translated code when it is
/// done.
bool overwrote_string_store(const Sequence& s) {
  for (std::size_t i = 0; i < s.program.items.size(); ++i) {
    if (s.program.items[i].dropped || s.program.items[i].what != "string") continue;
    for (u64 at = s.layout.item_address[i]; at < s.layout.item_address[i + 1]; ++at) {
      const u8 written = s.layout.code[at - s.layout.item_address[0]];
      if (is_code(at) && *reinterpret_cast<const u8*>(at) != written) return true;
    }
  }
  return false;
}

void run_one(const Options& options, u64 number) {
  if (number < options.skipped.size() && options.skipped[number]) return;
  const Sequence s = make_sequence(options, number);
  if (options.verbose) {
    print_sequence(s);
    std::fflush(stdout);
  }
  std::memset(exit_state.xsave, 0, sizeof exit_state.xsave);
  Outcome outcome = run_watched(s.seed);
  if (overwrote_string_store(s)) outcome.end = Outcome::End::kOutside;
  u64 hash = hash_bytes(outcome.faults.data(), outcome.faults.size() * sizeof(Fault));
  VectorState vectors{};
  if (outcome.end == Outcome::End::kLeft) {
    vectors = normalized(exit_state.xsave, xsave_mask);
    hash = hash_bytes(exit_state.gpr, sizeof exit_state.gpr, hash);
    hash = hash_bytes(&exit_state.rflags, sizeof exit_state.rflags, hash);
    hash = hash_bytes(&vectors, sizeof vectors, hash);
  }
  if (outcome.end < Outcome::End::kTimeout) hash = hash_bytes(&hash, sizeof hash, hash_areas());
  if (outcome.end >= Outcome::End::kTimeout) hash = 0;
  if (options.verbose) print_outcome(outcome, vectors);
  std::printf("%lu %016lx %zu %s\n", number, hash, outcome.faults.size(), name(outcome.end));
  std::fflush(stdout);
}

std::vector<bool> parse_list(std::string_view text) {
  std::vector<bool> list;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const auto n = std::strtoul(std::string(text.substr(0, comma)).c_str(), nullptr, 10);
    if (list.size() <= n) list.resize(n + 1);
    list[n] = true;
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
  }
  return list;
}

Options parse(int argc, char** argv) {
  Options options;
  const auto usage = [] {
    std::fputs("usage: see the head of random_code.cc\n", stderr);
    std::exit(2);
  };
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (option == "--verbose") {
      options.verbose = true;
      continue;
    }
    if (option == "--exotic") {
      options.exotic = true;
      continue;
    }
    if (option == "--no-watchdog") {
      options.watchdog = false;
      continue;
    }
    if (i + 1 == argc) usage();
    const char* const value = argv[++i];
    Placement placement;
    if (option == "--seed") {
      options.seed = std::strtoull(value, nullptr, 10);
    } else if (option == "--first") {
      options.first = std::strtoull(value, nullptr, 10);
    } else if (option == "--count") {
      options.count = std::strtoull(value, nullptr, 10);
    } else if (option == "--interrupt") {
      options.interrupt_every = static_cast<unsigned>(std::strtoul(value, nullptr, 10));
    } else if (option == "--drop") {
      options.dropped = parse_list(value);
    } else if (option == "--skip") {
      options.skipped = parse_list(value);
    } else if (option == "--place" && find_placement(value, placement)) {
      options.placements.push_back(placement);
    } else {
      usage();
    }
  }
  return options;
}

/// Where addresses are random, the heap may lie where the code goes, or where random code writes.
void settle_addresses(char** argv) {
  constexpr unsigned long kAsk = 0xffffffff;
  const int persona = personality(kAsk);
  if (persona == -1 || (persona & ADDR_NO_RANDOMIZE) != 0) return;
  personality(static_cast<unsigned long>(persona) | ADDR_NO_RANDOMIZE);
  if ((personality(kAsk) & ADDR_NO_RANDOMIZE) != 0) execv("/proc/self/exe", argv);
}

}  // namespace
}  // namespace detrec::fuzz

int main(int argc, char** argv) {
  using namespace detrec::fuzz;
  settle_addresses(argv);
  const Options options = parse(argc, argv);
  start_cpu_state();
  map_areas();
  map_code();
  start_handlers(options.watchdog, options.interrupt_every);
  for (u64 i = 0; i < options.count; ++i) run_one(options, options.first + i);
  return 0;
}
