// The guest's address space as the guest knows it: every mapping, and the memory system calls on it.
//
// The engine chooses every address (layout.h). The map is what /proc/self/maps shows, what the translator
// asks for permissions, and what keeps the engine's own ranges out of the guest's reach.
#pragma once

#include "trace/guest/run/turn.h"

namespace detrec::guest::memory {

/// Protection bits are the kernel's PROT_*. What the guest asked for; a page the translator protects keeps
/// its bits here.
struct Mapping {
  GuestAddr begin;
  GuestAddr end;
  u32 prot;
  bool shared;
  bool grows_down;
  u64 device;  ///< dev_t of the file, 0 when anonymous
  u64 inode;
  u64 file_offset;  ///< of `begin`
  u32 name;         ///< index of the path or pseudo name ("[heap]", "[stack]"), 0 none
};

/// Makes the inherited RLIMIT_AS and RLIMIT_DATA virtual (the kernel's are raised as far as they go) and
/// notes what the kernel itself mapped (vdso, initial stack), from the auxiliary vector that it gave the
/// engine. main() calls it before the engine reserves anything big; load_program calls it again, which does
/// nothing. False with one line in `message` when the hard limits leave no room for the engine.
bool start(const u64* kernel_auxv, char* message, u64 size);

/// What the kernel is asked for when the guest asks for `prot`: guest code is only ever read, so PROT_EXEC
/// becomes PROT_READ. Whoever protects a page of the guest anew goes through this.
constexpr u32 kernel_protection(u32 prot) { return (prot & 4) != 0 ? (prot & ~4u) | 1u : prot; }

/// True when some byte of [begin, end) is the engine's or the kernel's own (vdso, initial stack) and must be
/// refused to the guest as if nothing were mapped there (-ENOMEM or -EFAULT): for system calls that take
/// addresses.
bool touches_engine(GuestAddr begin, GuestAddr end);

/// Calls visit for every part of the branch table that is still the engine's: what the guest has mapped over
/// it (a shadow memory, say) must neither be cleared nor written.
void for_each_table_part(void (*visit)(GuestAddr begin, GuestAddr end, void* arg), void* arg);

/// The mapping that holds `address`, or nullptr. Valid until the next change.
const Mapping* find(GuestAddr address);

/// PROT_* of the page, -1 when unmapped.
int protection(GuestAddr address);

/// Calls visit(mapping, path) in address order; used for /proc/self/maps and for aliases.
void for_each(void (*visit)(const Mapping&, const char* path, void* arg), void* arg);

/// True when another mapping of the same file and offset range as `page` is writable by the guest (an alias
/// through which code can change); fills up to `max` alias page addresses and returns their number.
int writable_aliases(GuestAddr page, GuestAddr* out, int max);

// The system calls; arguments and results as in the man pages (mmap(2) ...).
SysResult mmap(Turn& turn, GuestAddr addr, u64 length, u32 prot, u32 flags, i32 fd, u64 offset);
/// The page size that MAP_HUGETLB asks for in the flags of mmap(2), bytes.
u64 huge_page_size(u32 flags);
SysResult munmap(Turn& turn, GuestAddr addr, u64 length);
SysResult mprotect(Turn& turn, GuestAddr addr, u64 length, u32 prot);
SysResult mremap(Turn& turn, GuestAddr old_addr, u64 old_size, u64 new_size, u32 flags, GuestAddr new_addr);
SysResult brk(Turn& turn, GuestAddr addr);
SysResult madvise(Turn& turn, GuestAddr addr, u64 length, i32 advice);
/// True when the bytes that the guest sees may differ after such advice.
bool changes_content(i32 advice);
SysResult shmat(Turn& turn, i32 id, GuestAddr addr, i32 flags);
SysResult shmdt(Turn& turn, GuestAddr addr);

/// Sets where the heap starts (after the program's bss); called by load/.
void set_brk_start(GuestAddr start);

/// Maps for the loader, at a fixed place or (addr == 0) where the engine likes: low when `code`, else in the
/// window.
SysResult map_image(Turn& turn, GuestAddr addr, u64 length, u32 prot, u32 flags, i32 fd, u64 offset,
                    bool code, const char* name);

/// Reserves (inaccessible) room for an image that may lie anywhere: the program at the bottom of the low code
/// area, its dynamic linker at the top, either in the window when it does not fit. Address or -errno.
SysResult reserve_image(Turn& turn, u64 length, u64 align, bool program);

/// Where the initial stack ends, and (load/ tells) what its first stack pointer is and where glibc's dynamic
/// linker lies.
GuestAddr stack_top();
void set_stack_start(GuestAddr sp);
void set_linker_range(GuestAddr begin, GuestAddr end);
/// RLIMIT_STACK (soft, bytes; ~0 unlimited).
u64 stack_limit();
/// Where brk(2) starts when the loader leaves it to memory/.
GuestAddr default_brk_start();

/// How much is mapped, in bytes: everything, its peak, private writable, stack-like, executable and not
/// writable.
struct Totals {
  u64 size, peak, data, stack, code;
};
Totals totals();

/// Virtual RLIMIT_AS, RLIMIT_DATA, RLIMIT_STACK as the guest set or inherited them (prlimit64 and setrlimit
/// go through here).
SysResult prlimit(Turn& turn, i32 pid, u32 resource, GuestAddr new_limit, GuestAddr old_limit);

/// A mapping as a recording describes it.
struct RecordedMapping {
  GuestAddr address;
  u64 length;
  u32 prot;
  u32 flags;  ///< MAP_*
  u64 device, inode, file_offset;
  const char* name;
  i32 content_fd;      ///< -1: zeros
  u64 content_offset;  ///< where the file's content begins there
  u64 content_size;    ///< and ends; memory behind it is SIGBUS, as behind the end of a file
  u64 content_end;     ///< an offset that is behind the end of content_fd
  bool shm;            ///< a System V segment
};
/// True for the identity that a System V segment has in the map.
bool is_segment(u64 device, u64 inode);

/// Replay: maps at the recorded place, over what is there. 0 or -errno.
SysResult map_recorded(Turn& turn, const RecordedMapping& mapping);

/// Replay: shared anonymous memory at `address`, which nothing else is mapped at.
SysResult map_recorded_anonymous(Turn& turn, GuestAddr address, u64 length, u32 prot, u32 flags);

/// Replay: the size of a mapped file has changed, and all its content with it (content_*).
bool replace_content(Turn& turn, const RecordedMapping& mapping);

/// Replay: what a recorded call has changed in the guest's memory, also where the guest may not write.
bool write_recorded(Turn& turn, GuestAddr to, const void* from, u64 n);

/// In a process forked off a replay: gives it copies of all memory that it shares with its parent, which must
/// not run meanwhile.
void unshare_objects(Turn& turn);

/// Replay: the next mapping whose place the engine chooses goes to `address`. 0: nothing is forced (any
/// more).
void force_place(GuestAddr address);

/// Where the heap, the stack and the dynamic linker are, as a new image finds or a recording says it.
struct ImagePlaces {
  GuestAddr brk_start, brk, stack_start, linker_begin, linker_end;
  u64 stack_limit;  ///< RLIMIT_STACK (soft)
};
ImagePlaces image_places();
void set_image_places(const ImagePlaces& places);

/// In a forked child: forgets what MADV_DONTFORK kept out of it.
void after_fork(Turn& turn);

/// Before execve: gives the virtual limits to the kernel, from which the new image's start() takes them.
/// `cancel_exec` undoes it when execve failed.
void prepare_exec(Turn& turn);
void cancel_exec(Turn& turn);

}  // namespace detrec::guest::memory
