// The shared page of trace/wire/launch.h, seen from the command line.
#pragma once

#include "frontend/launch/descriptor.h"
#include "frontend/launch/engine_image.h"
#include "frontend/launch/translation_cache.h"
#include "frontend/result.h"
#include "frontend/run_command.h"
#include "trace/wire/launch.h"

namespace detrec::frontend {

/// Owns the memfd and its mapping. What the engine writes survives the engine.
class LaunchPage {
 public:
  /// Creates the page and fills in the options; the descriptor is close-on-exec and has a high number. For
  /// recording and replaying the ring of events follows the page.
  static Result<LaunchPage> create(const RunOptions& options, const EngineImage& engine,
                                   wire::ChannelMode mode = wire::ChannelMode::kNone);
  /// The same for a replay under a debugger, with slots for its processes (trace/wire/debug.h).
  static Result<LaunchPage> create_debugged(const EngineImage& engine);

  LaunchPage(LaunchPage&& other) noexcept;
  LaunchPage& operator=(LaunchPage&&) = delete;
  ~LaunchPage();

  /// After the run of a program: what it has translated is kept for later ones. Not after a replay, whose
  /// code comes with the trace and is nobody's word.
  void keep_translations() const { cache_.take_over(descriptor(), get()); }

  int descriptor() const { return descriptor_.number(); }
  wire::Launch& get() { return *launch_; }
  const wire::Launch& get() const { return *launch_; }

 private:
  LaunchPage(Descriptor descriptor, wire::Launch* launch);
  /// `extra`: bytes that would be good to have; 0 afterwards when a limit on file sizes forbids them.
  static Result<LaunchPage> make(const EngineImage& engine, std::uint64_t bytes, std::uint64_t& extra);

  Descriptor descriptor_;
  wire::Launch* launch_;
  TranslationCache cache_{{}, {}};
};

}  // namespace detrec::frontend
