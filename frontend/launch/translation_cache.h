// The file in which translations are kept from one run to the next.
//
// It has the layout of the run's own store (trace/wire/translations.h) and always the same size, sparse.
// Engines map it and read; after a run detrec appends what that run has stored, under a lock. A file of
// another build, a damaged one, or one that is full, is replaced by a new one that has the last run's blocks
// only.
//
// The directory must be the user's own: whoever can write the file decides what later programs do.
#pragma once

#include <string>

#include "trace/wire/launch.h"

namespace detrec::frontend {

/// What the user wants kept.
struct TranslationChoice {
  bool in_run = true;     ///< processes of a run share their translations
  std::string directory;  ///< where they are kept between runs; empty: nowhere
};

/// From --no-translation-cache and the environment: DETREC_TRANSLATION_CACHE is off, session or a directory;
/// else $XDG_CACHE_HOME/detrec, else ~/.cache/detrec.
TranslationChoice choose_translations(bool refused);

class TranslationCache {
 public:
  /// `directory` is where the files are, one for each engine that is installed; empty: nothing is kept. One
  /// that others own or may write to is not used.
  TranslationCache(const std::string& directory, const std::string& engine_path);

  /// Tells the engine where the file is, if there is one.
  void announce(wire::Launch& launch) const;

  /// After a run: takes over what the store in the channel has beyond the file. Makes the directory when it
  /// is not there. Errors are nobody's business: the next run translates again.
  void take_over(int channel, const wire::Launch& launch) const;

 private:
  std::string directory_;
  std::string path_;  ///< empty: nothing is kept
};

}  // namespace detrec::frontend
