// The first line of a script. Pure. Source of facts: execve(2) "Interpreter scripts", fs/binfmt_script.c.
#pragma once

#include "trace/guest/base/types.h"

namespace detrec::guest::load {

/// The kernel looks at this much of a file.
inline constexpr u64 kScriptHead = 256;

/// How many times an interpreter may be a script itself (the kernel gives -ELOOP beyond).
inline constexpr int kScriptDepth = 5;

struct ScriptLine {
  char interpreter[kScriptHead];
  char argument[kScriptHead];
  bool has_argument;
};

enum class ScriptKind {
  kNone,    ///< no #! line
  kBroken,  ///< a #! line that names no interpreter, or whose name does not fit: -ENOEXEC
  kScript,
};

/// `head` is the first n <= kScriptHead bytes of the file (all of it when it is shorter).
ScriptKind parse_script(const u8* head, u64 n, ScriptLine& line);

}  // namespace detrec::guest::load
