// Touching guest memory that may not be there: copies that report a fault instead of dying from it.
//
// The host fault handler (signal/) recognises a fault between probe_begin and probe_end (probe.S) and resumes
// at probe_failed. Guest memory is READ by the engine only through these functions, and WRITTEN only through
// memory::write_guest (memory/guest_memory.h), which also tells the translator.
#pragma once

#include "trace/guest/base/types.h"

namespace detrec::guest {

extern "C" char probe_begin[], probe_end[], probe_failed[];

/// Copies n bytes; returns the number of bytes NOT copied (0 = success), like the kernel's copy_from_user.
extern "C" u64 probe_copy(void* to, const void* from, u64 n);

/// Copies 8 bytes with one load and one store, as a push does: all or nothing. 0 on success.
extern "C" u64 probe_word(void* to, const void* from);

/// Copies 16 bytes as two words; as probe_copy.
extern "C" u64 probe_pair(void* to, const void* from);

inline bool read_guest(void* to, GuestAddr from, u64 n) {
  return probe_copy(to, reinterpret_cast<const void*>(from), n) == 0;
}
template <class T>
inline bool read_guest(T& to, GuestAddr from) {
  return read_guest(&to, from, sizeof(T));
}

/// Copies a NUL-terminated string of at most size-1 bytes. Returns its length, -EFAULT, or -ENAMETOOLONG.
i64 read_guest_string(char* to, GuestAddr from, u64 size);

}  // namespace detrec::guest
