// The stack a program starts on, laid out as the kernel does it (fs/exec.c, fs/binfmt_elf.c; System V
// ABI 3.4.1). Pure: writes through a callback.
#pragma once

#include "trace/guest/base/types.h"

namespace detrec::guest::load {

/// An auxiliary vector under construction.
struct AuxVector {
  static constexpr u32 kMax = 40;
  u64 words[2 * kMax];
  u32 count = 0;  ///< pairs

  void add(u64 type, u64 value) {
    if (count < kMax) {
      words[2 * count] = type;
      words[2 * count + 1] = value;
      ++count;
    }
  }
};

/// Strings to lay out. The argument list is `prefix` (from #! lines) followed by argv[skip...].
struct StackInput {
  const char* const* prefix;
  u32 prefix_count;
  const char* const* argv;  ///< ends with nullptr; already without what the prefix replaces
  const char* const* envp;  ///< ends with nullptr
  const char* execfn;
  const char* platform;  ///< nullptr: none
  u8 random[16];
  GuestAddr top;  ///< end of the stack, page aligned
};

/// Where things came to lie.
struct StackLayout {
  GuestAddr sp;       ///< argc is here; 16-byte aligned
  GuestAddr strings;  ///< lowest string byte (argv[0])
  GuestAddr arg_begin, arg_end;
  GuestAddr env_begin, env_end;
  GuestAddr execfn;
  GuestAddr platform;  ///< 0: none
  GuestAddr random;
};

/// Where everything will lie, given the number of auxv pairs (AT_NULL included).
StackLayout plan_stack(const StackInput& input, u32 auxv_pairs);

/// Writes it all. `auxv` is complete (AT_RANDOM, AT_EXECFN, AT_PLATFORM from the layout; ends with AT_NULL).
/// False as soon as `write` fails.
using WriteStack = bool (*)(void* arg, GuestAddr to, const void* from, u64 n);
bool write_stack(const StackInput& input, const StackLayout& layout, const AuxVector& auxv, WriteStack write,
                 void* arg);

}  // namespace detrec::guest::load
