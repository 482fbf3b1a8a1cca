// What the files of this folder share: the state of the guest's address space, and the steps that keep it in
// step with the kernel's. Everything but start() needs the turn.
#pragma once

#include "trace/guest/base/syscall.h"
#include "trace/guest/memory/address_choice.h"
#include "trace/guest/memory/guest_map.h"
#include "trace/guest/memory/names.h"

namespace detrec::guest::memory {

inline constexpr u64 kUnlimited = ~0ull;

struct Limit {
  u64 soft = kUnlimited;
  u64 hard = kUnlimited;
};

struct AddressSpace {
  RegionMap map;
  Names names;
  ForeignRanges foreign;

  GuestAddr brk_start = 0;
  GuestAddr brk = 0;
  GuestAddr stack_start = 0;   ///< the initial stack pointer: the region that holds it is "[stack]"
  GuestAddr linker_begin = 0;  ///< glibc's dynamic linker, where there is one
  GuestAddr linker_end = 0;

  Limit as;                          ///< virtual RLIMIT_AS
  Limit data;                        ///< virtual RLIMIT_DATA
  u64 stack_limit = 0;               ///< RLIMIT_STACK, the kernel's own
  bool keeps_from_children = false;  ///< MADV_DONTFORK was ever used
  bool started = false;
  GuestAddr forced_place = 0;  ///< replay: see force_place()
  u64 next_object = 1;         ///< numbers shared anonymous memory
};

AddressSpace& address_space();

/// The object behind a mapping.
struct Object {
  u64 device = 0;
  u64 inode = 0;
  u32 name = 0;
  u64 huge_page = 0;  ///< page size of hugetlbfs, else 0
  bool regular = false;
  bool no_exec = false;  ///< on a file system mounted noexec (filled in only for PROT_EXEC)
};

/// Fills in what fstat and /proc/self/fd say. -EBADF for closed and hidden descriptors.
SysResult describe_file(i32 fd, u32 prot, Object& object);

/// A fresh identity for shared anonymous memory.
Object shared_anonymous();

/// True when the RLIMITs allow the guest `total` more bytes, of which `data` count as data.
bool limits_allow(u64 total, u64 data);

/// Takes note of pages by which the kernel has grown a stack-like region that lies above or in [begin, end).
void sync_growth(GuestAddr begin, GuestAddr end);

/// munmap in the kernel for a range that is the guest's; parts of the branch table are put back. 0 or -errno.
SysResult unmap_in_kernel(GuestAddr begin, GuestAddr end);

/// Whether [begin, end) may become executable (`exec`) or be mapped at all with respect to the branch table:
/// 0 or -ENOMEM.
SysResult check_table(GuestAddr begin, GuestAddr end, bool exec);

/// Tells the translator what the change to [begin, end) means for code and for aliases of code.
void announce(Turn& turn, GuestAddr begin, GuestAddr end);

/// Drops code in [begin, end).
void drop_code(Turn& turn, GuestAddr begin, GuestAddr end);

/// After a kernel call that failed half-way: forgets regions in [begin, end) that the kernel no longer has.
void resync(GuestAddr begin, GuestAddr end);

/// Has `map_at(address)` map something with MAP_FIXED_NOREPLACE at a place that choose() finds, again lower
/// down while something unknown is in the way. Returns the address, map_at's error, or -ENOMEM.
template <class F>
SysResult place(Choice choice, F map_at) {
  constexpr SysResult kNoMemory = -12, kExists = -17;
  AddressSpace& space = address_space();
  for (int attempt = 0; attempt < 16; ++attempt) {
    GuestAddr at = space.forced_place != 0 ? space.forced_place : choose(space.map, space.foreign, choice);
    if (at == 0) break;
    SysResult r = map_at(at);
    if (r == static_cast<SysResult>(at) || (failed(r) && r != kExists)) return r;
    // A kernel before 4.17 takes the address as a hint and maps elsewhere.
    if (!failed(r)) raw_syscall(__NR_munmap, static_cast<u64>(r), choice.length);
    if (at >= kHeapZoneEnd) choice.ceiling = at;
    choice.area = Area::kData;
  }
  return kNoMemory;
}

/// Reserves choice.length inaccessible bytes in the kernel: their address, or -ENOMEM.
SysResult reserve_place(const Choice& choice);

/// The region the caller has just mapped at [begin, end) in the kernel enters the map, in place of what was
/// there.
void record(GuestAddr begin, GuestAddr end, u32 prot, bool shared, bool grows_down, u32 attributes,
            const Object& object, u64 file_offset);

}  // namespace detrec::guest::memory
