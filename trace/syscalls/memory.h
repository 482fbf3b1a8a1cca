// Which guest memory a system call reads and writes: the table's rules applied to real arguments and a real
// result.
//
//   Before before;
//   capture_before(nr, args, reader, before);        // lengths that the call overwrites
//   for_each_writable(nr, args, reader, visitor);    // at most this will be written: bounce it, watch it,
//   make it private result = ...the call... for_each_written(nr, args, result, before, reader, visitor);  //
//   this was written: record it
//
// The ranges of for_each_written are what the kernel wrote, but for these, which are wider: alignment gaps
// between directory entries (getdents, getdents64) and between fields that a kernel of another version leaves
// out; bits of fd sets above the process's descriptor table; the second and later pages of mincore and
// move_pages after an error; the buffers of vmsplice on a pipe's write end. Ranges of memory that the kernel
// could not write (result -EFAULT) are not reported.
//
// What the engine itself stores for the kernel is not reported: the tids and the pidfd of clone, futex words,
// the robust list, memory that mmap and its kin change.
//
// All functions are freestanding, keep no state and allocate nothing. `args` are the six registers rdi, rsi,
// rdx, r10, r8, r9 as the guest left them; `result` is the kernel's (-errno for errors).
#pragma once

#include <cstddef>
#include <cstdint>

#include "trace/syscalls/table.h"

namespace detrec::syscalls {

/// A piece of guest memory.
struct Range {
  std::uint64_t address = 0;
  std::uint64_t size = 0;  ///< bytes, never 0 when visited
  int arg = -1;            ///< the argument through which it is reached
};

/// Reads guest memory. `read` copies `size` bytes from a guest address and returns false when it cannot.
struct Reader {
  bool (*read)(void* context, std::uint64_t address, void* to, std::size_t size);
  void* context;
};

/// Receives ranges.
struct Visitor {
  void (*visit)(void* context, const Range& range);
  void* context;
};

/// The kernel takes no more messages in one recvmmsg (UIO_MAXIOV).
inline constexpr std::size_t kMaxMessages = 1024;

/// What is lost when a call has overwritten it: capacities in value-result arguments.
struct Before {
  bool captured = false;
  std::uint32_t lengths[kMaxArgs];          ///< value of each ArgKind::kLengthInOut argument
  std::uint32_t header_word = 0;            ///< first 32 bits of a structure that the kernel may correct
  std::uint8_t name_lengths[kMaxMessages];  ///< capacity for the sender's address in each msghdr, at most 255
  std::uint64_t external_count = 0;  ///< semctl GETALL and SETALL: number of semaphores in the set. The
                                     ///< caller fills it in (IPC_STAT, sem_nsems)
};

/// Notes what for_each_written needs to know of the time before the call. Returns false when memory could not
/// be read.
bool capture_before(int nr, const std::uint64_t (&args)[kMaxArgs], const Reader& reader, Before& before);

/// Visits what the kernel reads before it acts. Returns false when memory that leads to more could not be
/// read or the call is not in the table; what could be found has been visited.
bool for_each_read(int nr, const std::uint64_t (&args)[kMaxArgs], const Reader& reader,
                   const Visitor& visitor, const Before* before = nullptr);

/// Visits what the kernel may write at most. To be called before the call; of `before` only external_count is
/// used. Returns false as for_each_read does; then more may be written than was visited.
bool for_each_writable(int nr, const std::uint64_t (&args)[kMaxArgs], const Reader& reader,
                       const Visitor& visitor, const Before* before = nullptr);

/// Visits what the kernel has written. To be called after the call, with memory as the kernel left it.
/// Without `before` the capacities of value-result arguments are taken to have been large enough.
bool for_each_written(int nr, const std::uint64_t (&args)[kMaxArgs], std::int64_t result,
                      const Before* before, const Reader& reader, const Visitor& visitor);

/// The same with callables: `bool read(uint64_t address, void* to, size_t size)`, `void visit(const Range&)`.
template <typename Read>
Reader reader_of(Read& read) {
  return {[](void* context, std::uint64_t address, void* to, std::size_t size) {
            return static_cast<bool>((*static_cast<Read*>(context))(address, to, size));
          },
          &read};
}
template <typename Visit>
Visitor visitor_of(Visit& visit) {
  return {[](void* context, const Range& range) { (*static_cast<Visit*>(context))(range); }, &visit};
}
template <typename Read, typename Visit>
bool for_each_written(int nr, const std::uint64_t (&args)[kMaxArgs], std::int64_t result, Read&& read,
                      Visit&& visit) {
  return for_each_written(nr, args, result, nullptr, reader_of(read), visitor_of(visit));
}

}  // namespace detrec::syscalls
