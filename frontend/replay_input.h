// What every replay of a trace begins with.
#pragma once

#include "frontend/launch/engine_image.h"
#include "server/replay/content.h"
#include "trace/wire/launch.h"

namespace detrec::frontend {

/// The engine, and the files that the trace has captured.
struct ReplayInput {
  EngineImage engine;
  server::Content content;

  static Result<ReplayInput> open(storage::TraceReader& reader);

  /// Tells the engine of the files and of the recorded processor.
  void describe(wire::Launch& launch, const storage::TraceReader& reader) const;
};

}  // namespace detrec::frontend
