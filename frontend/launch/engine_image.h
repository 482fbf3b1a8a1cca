// The engine's executable, detrec-guest.
#pragma once

#include <string>

#include "frontend/launch/descriptor.h"
#include "frontend/result.h"

namespace detrec::frontend {

/// The opened executable of the engine.
class EngineImage {
 public:
  /// Opens $DETREC_GUEST if set; else detrec-guest beside the running executable; else in ../libexec/detrec
  /// from there. The descriptor is close-on-exec and has a high number.
  static Result<EngineImage> open();

  int descriptor() const { return descriptor_.number(); }
  const std::string& path() const { return path_; }

 private:
  EngineImage(std::string path, Descriptor descriptor)
      : path_(std::move(path)), descriptor_(std::move(descriptor)) {}

  std::string path_;
  Descriptor descriptor_;
};

}  // namespace detrec::frontend
