// struct stat as the kernel fills it in, and what its mode says. (<linux/stat.h> hides the macros from C++ on
// glibc systems.)
#pragma once

#include <asm/stat.h>
#include <linux/posix_types.h>

#include "trace/guest/base/types.h"

namespace detrec::guest::load {

inline constexpr u32 kFileTypeMask = 0170000;
inline bool is_regular(const struct stat& st) { return (st.st_mode & kFileTypeMask) == 0100000; }
inline bool is_symbolic_link(const struct stat& st) { return (st.st_mode & kFileTypeMask) == 0120000; }
inline bool is_directory(const struct stat& st) { return (st.st_mode & kFileTypeMask) == 0040000; }

}  // namespace detrec::guest::load
