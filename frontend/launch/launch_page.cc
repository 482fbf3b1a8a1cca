#include "frontend/launch/launch_page.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "trace/wire/debug.h"
#include "trace/wire/translations.h"
#include "trace/wire/turns.h"
#include "trace/wire/version.h"

// Since Linux 6.3, and absent from older headers; older kernels refuse the flag with EINVAL (man 2
// memfd_create).
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

namespace detrec::frontend {
namespace {

constexpr std::uint64_t kRingOffset =
    (sizeof(wire::Launch) + wire::kChannelPage - 1) / wire::kChannelPage * wire::kChannelPage;
constexpr std::uint64_t kRingBytes = 16u << 20;
constexpr std::uint64_t kDebugRingBytes = 1u << 20;  // of each checkpoint

/// What to do about a memory file that cannot have so many bytes.
Error size_error(std::uint64_t bytes) {
  if (errno != EFBIG) return {kExitOwnFailure, std::strerror(errno), "ftruncate"};
  constexpr std::uint64_t kMiB = 1 << 20;
  return {
      kExitOwnFailure,
      fmt::format("the limit on file sizes (ulimit -f) is too low and cannot be raised: detrec needs {} MiB, "
                  "and a recording the size of its trace; try ulimit -f unlimited",
                  (bytes + kMiB - 1) / kMiB),
      {}};
}

Error launch_error(const char* what) { return Error{kExitOwnFailure, std::strerror(errno), what}; }

int create_memory_file() {
  const int number = memfd_create("detrec-launch", MFD_CLOEXEC | MFD_NOEXEC_SEAL);
  return number >= 0 || errno != EINVAL ? number : memfd_create("detrec-launch", MFD_CLOEXEC);
}

/// A limit on file sizes is meant for the guest and counts for memory files too: it is lifted for this one
/// call, as far as that is allowed.
bool grow_despite_limit(int descriptor, off_t size) {
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
  const rlimit most{limit.rlim_max, limit.rlim_max};
  if (setrlimit(RLIMIT_FSIZE, &none) != 0) setrlimit(RLIMIT_FSIZE, &most);
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  const bool grown = ftruncate(descriptor, size) == 0;
  const int error = errno;
  if (grown) std::signal(SIGXFSZ, before);  // else detrec ends, and what it says may go to a file
  setrlimit(RLIMIT_FSIZE, &limit);
  errno = error;
  return grown;
}

}  // namespace

LaunchPage::LaunchPage(Descriptor descriptor, wire::Launch* launch)
    : descriptor_(std::move(descriptor)), launch_(launch) {}

LaunchPage::LaunchPage(LaunchPage&& other) noexcept
    : descriptor_(std::move(other.descriptor_)),
      launch_(std::exchange(other.launch_, nullptr)),
      cache_(std::move(other.cache_)) {}

LaunchPage::~LaunchPage() {
  if (launch_ != nullptr) munmap(launch_, sizeof *launch_);
}

Result<LaunchPage> LaunchPage::make(const EngineImage& engine, std::uint64_t bytes, std::uint64_t& extra) {
  Descriptor low(create_memory_file());
  if (!low.valid()) return launch_error("memfd_create");
  Descriptor descriptor = move_to_high_number(std::move(low));
  if (!descriptor.valid()) return launch_error("the launch page's descriptor");
  struct sigaction before = {};
  sigaction(SIGXFSZ, nullptr, &before);
  if (!grow_despite_limit(descriptor.number(), static_cast<off_t>(bytes + extra))) {
    extra = 0;
    sigaction(SIGXFSZ, &before, nullptr);
    if (!grow_despite_limit(descriptor.number(), static_cast<off_t>(bytes))) return size_error(bytes);
  }
  void* memory =
      mmap(nullptr, sizeof(wire::Launch), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor.number(), 0);
  if (memory == MAP_FAILED) return launch_error("mmap");

  auto* launch = new (memory) wire::Launch{};
  launch->magic = wire::kLaunchMagic;
  launch->version = wire::kWireVersion;
  launch->engine_fd = engine.descriptor();
  launch->launch_fd = descriptor.number();
  launch->content_fd = -1;
  struct stat status = {};
  if (fstat(STDERR_FILENO, &status) == 0) launch->stderr_identity = {status.st_dev, status.st_ino};
  launch->stop_ticks = wire::kNoTicks;
  launch->phase = wire::LaunchPhase::kStarting;
  return LaunchPage(std::move(descriptor), launch);
}

Result<LaunchPage> LaunchPage::create(const RunOptions& options, const EngineImage& engine,
                                      wire::ChannelMode mode) {
  const bool has_ring = mode != wire::ChannelMode::kNone;
  const bool records = mode == wire::ChannelMode::kRecord;
  constexpr std::uint64_t kRingEnd = kRingOffset + wire::kChannelPage + kRingBytes;
  constexpr std::uint64_t kContextEnd = kRingEnd + wire::kChannelPage;
  const std::uint64_t end = records    ? kContextEnd + sizeof(wire::TurnBoard)
                            : has_ring ? kRingEnd
                                       : kRingOffset;
  const std::uint64_t translations = (end + wire::kChannelPage - 1) / wire::kChannelPage * wire::kChannelPage;
  const TranslationChoice kept = choose_translations(options.no_translation_cache);
  std::uint64_t extra = kept.in_run ? translations + wire::kTranslationStoreBytes - end : 0;
  auto page = make(engine, end, extra);
  if (!page) return page;
  wire::Launch& launch = page.value().get();
  launch.translations_offset = extra != 0 ? translations : 0;
  page.value().cache_ = TranslationCache(kept.directory, engine.path());
  page.value().cache_.announce(launch);
  launch.mode = mode;
  launch.ring_offset = has_ring ? kRingOffset : 0;
  launch.ring_bytes = has_ring ? kRingBytes : 0;
  launch.context_offset = records ? kRingEnd : 0;
  launch.turns_offset = records ? kContextEnd : 0;
  if (options.stop_at) launch.stop_ticks = options.stop_at->ticks.value;
  launch.stop_pc = options.stop_at ? options.stop_at->pc.value : 0;
  launch.slice_ticks = options.slice ? options.slice->ticks.value : 0;
  launch.slice_jitter = options.slice ? options.slice->jitter_instructions : 0;
  launch.translate_limit = options.translate_limit;
  launch.trace_level = options.trace_level;
  return page;
}

Result<LaunchPage> LaunchPage::create_debugged(const EngineImage& engine) {
  std::uint64_t no_extra = 0;
  auto page = make(engine, kRingOffset + wire::kDebugSlots * wire::slot_bytes(kDebugRingBytes), no_extra);
  if (!page) return page;
  wire::Launch& launch = page.value().get();
  launch.mode = wire::ChannelMode::kReplay;
  launch.debug_offset = kRingOffset;
  launch.ring_offset = kRingOffset + sizeof(wire::DebugMailbox);
  launch.ring_bytes = kDebugRingBytes;
  return page;
}

}  // namespace detrec::frontend
