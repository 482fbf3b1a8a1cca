#include "frontend/replay_input.h"

#include "frontend/cpu_level.h"

namespace detrec::frontend {

Result<ReplayInput> ReplayInput::open(storage::TraceReader& reader) {
  auto engine = EngineImage::open();
  if (!engine) return engine.error();
  auto content = server::Content::load(reader);
  if (!content) return Error{kExitOwnFailure, to_string(content.error()), {}};
  return ReplayInput{std::move(engine.value()), std::move(content.value())};
}

void ReplayInput::describe(wire::Launch& launch, const storage::TraceReader& reader) const {
  launch.content_fd = content.descriptor();
  launch.content_bytes = content.bytes();
  launch.cpu_level = cpu_level_of(reader.recording().text("cpu_model"));
}

}  // namespace detrec::frontend
