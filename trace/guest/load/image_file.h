// Opens what execve(2) was asked to run: permission checks, headers, `#!` lines, the interpreter of
// PT_INTERP.
#pragma once

#include "trace/guest/load/elf_image.h"
#include "trace/guest/load/script.h"

namespace detrec::guest::load {

/// An ELF file, open for reading and with its headers checked.
struct ImageFile {
  i32 fd = -1;
  u64 size = 0;
  ElfHeader header;
  ElfImage image;
};

/// Why something cannot be run. `code` is the -errno that execve gives; the rest is for the message.
struct Refusal {
  SysResult code = 0;
  ElfError elf = ElfError::kNone;
  u32 machine = 0;
  bool bits32 = false;
  bool unreadable = false;      ///< executable but not readable
  bool linker_missing = false;  ///< it is the PT_INTERP, or the interpreter of a script, that does not exist
  char path[4096] = {};         ///< the file it is about
};

/// Everything needed to map a program. At most one descriptor is open at a time: there may be no second one.
struct Resolved {
  ImageFile program;
  ImageFile linker;
  char linker_path[4096];  ///< PT_INTERP; empty: none
  ScriptLine scripts[kScriptDepth];
  int script_count = 0;  ///< scripts[0] is that of the path itself
};

/// Opens a file for execution: it must be regular, executable and readable. Descriptors are close-on-exec.
/// `flags` as execveat(2).
SysResult open_executable(i32 dirfd, const char* path, u32 flags, i32& fd, u64& size, bool& unreadable);

/// Follows scripts from `path` to a program. On success out.program is open; on failure nothing is, and `why`
/// says what is wrong. Both structures are large: not for the stack.
bool resolve(i32 dirfd, const char* path, u32 flags, Resolved& out, Refusal& why);

/// Opens the dynamic linker that the program names (out.linker_path is not empty).
bool open_linker(Resolved& out, Refusal& why);

void close_file(ImageFile& file);

/// One line for the user: "cannot run PATH: ...".
void describe(const Refusal& why, char* to, u64 size);

}  // namespace detrec::guest::load
