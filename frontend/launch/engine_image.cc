#include "frontend/launch/engine_image.h"

#include <fcntl.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

namespace detrec::frontend {
namespace {

constexpr const char* kEngineName = "detrec-guest";

std::vector<std::string> candidates() {
  if (const char* chosen = std::getenv("DETREC_GUEST"); chosen != nullptr && *chosen != '\0') return {chosen};
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return {};
  const auto directory = self.parent_path();
  return {directory / kEngineName, directory.parent_path() / "libexec" / "detrec" / kEngineName};
}

}  // namespace

Result<EngineImage> EngineImage::open() {
  std::string looked_at;
  for (const std::string& path : candidates()) {
    Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (descriptor.valid()) {
      descriptor = move_to_high_number(std::move(descriptor));
      if (!descriptor.valid()) return Error{kExitOwnFailure, "no file descriptor is free", {}};
      return EngineImage(path, std::move(descriptor));
    }
    if (errno != ENOENT && errno != ENOTDIR) return Error{kExitOwnFailure, std::strerror(errno), path};
    looked_at += (looked_at.empty() ? "" : " and ") + path;
  }
  return Error{kExitOwnFailure, "the engine was not found (looked for " + looked_at + ")", {}};
}

}  // namespace detrec::frontend
