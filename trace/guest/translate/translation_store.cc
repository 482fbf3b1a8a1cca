#include "trace/guest/translate/translation_store.h"

#include <asm/fcntl.h>
#include <asm/stat.h>
#include <linux/mman.h>

#include "trace/guest/base/probe.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/debug/debugger.h"
#include "trace/guest/memory/guest_map.h"
#include "trace/guest/process.h"
#include "trace/guest/translate/block_translator.h"

/// Where the linker has put its note with the build's hash (engine.ld).
extern "C" const unsigned char engine_build_note[];

namespace detrec::guest::translate {
namespace {

using wire::TranslationRecord;
using wire::TranslationStore;
constexpr u64 kUnit = wire::kTranslationUnit, kStoreBytes = wire::kTranslationStoreBytes;
constexpr u64 kLeastRecord = sizeof(TranslationRecord) + sizeof(StoredShape);

/// So many records of a chain are looked at, those of other pages included.
constexpr int kLongestWalk = 2048;

TranslationStore* session = nullptr;    ///< of this run
const TranslationStore* old = nullptr;  ///< of earlier runs; read as guest memory is: the file may shrink

alignas(kUnit) u8 building[wire::kMaxTranslationBytes];

TranslationStore* map_store(u64 at, u64 prot, i32 fd, u64 offset) {
  SysResult r = raw_syscall(__NR_mmap, at, kStoreBytes, prot, MAP_SHARED | MAP_FIXED_NOREPLACE,
                            static_cast<u64>(fd), offset);
  if (static_cast<u64>(r) != at) return nullptr;
  raw_syscall(__NR_madvise, at, kStoreBytes, MADV_DONTDUMP);
  return reinterpret_cast<TranslationStore*>(at);
}

/// Says which build this engine is: the linker's note is a header of 16 bytes and a hash.
u64 own_build() {
  u64 build;
  memcpy(&build, engine_build_note + 16, sizeof build);
  return build;
}

/// Maps the store of earlier runs if it is there, the one that detrec has found, and made by this build.
const TranslationStore* map_old(const wire::TranslationFile& file) {
  // Nothing may be waited for, should there be something else by now.
  constexpr u64 kFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW;
  if (file.inode == 0) return nullptr;
  SysResult fd = raw_syscall(__NR_open, arg(file.path), kFlags, 0);
  if (failed(fd)) return nullptr;  // in another root directory, say
  struct stat status;
  // What is no file has no size either.
  bool same = !failed(raw_syscall(__NR_fstat, static_cast<u64>(fd), arg(&status))) &&
              status.st_dev == file.device && status.st_ino == file.inode &&
              static_cast<u64>(status.st_size) == kStoreBytes;
  const TranslationStore* store =
      same ? map_store(kOldTranslationsAddress, PROT_READ, static_cast<i32>(fd), 0) : nullptr;
  raw_syscall(__NR_close, static_cast<u64>(fd));
  u64 build = 0;
  if (store == nullptr || !read_guest(build, arg(&store->build))) return nullptr;
  return build == own_build() ? store : nullptr;
}

/// The record at `unit` and its length; nullptr when there can be none.
const TranslationRecord* record_at(const TranslationStore* store, u32 unit, u32& bytes) {
  u64 at = unit * kUnit;
  if (at < sizeof(TranslationStore) || at + kLeastRecord > kStoreBytes) return nullptr;
  auto* record = reinterpret_cast<const TranslationRecord*>(reinterpret_cast<const u8*>(store) + at);
  bytes = __atomic_load_n(&record->bytes, __ATOMIC_RELAXED);  // read once: it may be damaged meanwhile
  return wire::can_be_record(at, bytes, kLeastRecord) ? record : nullptr;
}

/// Copies the record if it is whole.
bool copy_whole(const TranslationRecord* record, u32 bytes, u8* to) {
  auto* copy = reinterpret_cast<TranslationRecord*>(to);
  if (copy_and_sum(record, copy, bytes) != record->sum) return false;
  copy->bytes = bytes;
  return StoredBlock(to).bytes() <= bytes;
}

/// Room for a record at the end of the run's store; 0 when it is full.
u32 reserve(u32 bytes) {
  constexpr u64 kRoom = wire::kTranslationRoom;
  if (__atomic_load_n(&session->used, __ATOMIC_RELAXED) + bytes > kRoom) return 0;
  u64 at = __atomic_fetch_add(&session->used, bytes, __ATOMIC_RELAXED);
  if (at + bytes > kRoom || at % kUnit != 0) return 0;
  return static_cast<u32>((sizeof(TranslationStore) + at) / kUnit);
}

}  // namespace

void start_stores() {
  const wire::Launch& launch = *process().launch;
  if (debug::attached || launch.translate_limit != 0 || launch.translations_offset == 0) return;
  session = map_store(kTranslationsAddress, PROT_READ | PROT_WRITE, process().own_fds[kLaunchFd],
                      launch.translations_offset);
  if (session == nullptr) return;
  if (session->build == 0) session->build = own_build();
  old = map_old(launch.translation_file);
}

bool find_chain(GuestAddr pc, u32& chain) {
  if (session == nullptr || !is_steady_code(pc)) return false;
  // Programs that lie at the same place have chains of their own.
  const memory::Mapping* m = memory::find(pc);
  u64 file = (m->inode ^ m->device << 40) * 0x9e37'79b9'7f4a'7c15ull;
  chain = static_cast<u32>(pc / kPageSize + (file >> 32)) % wire::kTranslationChains;
  return true;
}

namespace {

/// Copies a record of the store of earlier runs to `room`: its beginning, then what is beyond that.
bool copy_old(u32 unit, u8* room, u64 room_bytes) {
  constexpr u64 kUsual = 640;
  u64 at = unit * kUnit;
  if (at < sizeof(TranslationStore) || at + kUsual > kStoreBytes || kUsual > room_bytes) return false;
  if (!read_guest(room, arg(old) + at, kUsual)) return false;
  u64 bytes = reinterpret_cast<const TranslationRecord*>(room)->bytes;
  bool possible = wire::can_be_record(at, bytes, kLeastRecord) && bytes <= room_bytes;
  return possible && (bytes <= kUsual || read_guest(room + kUsual, arg(old) + at + kUsual, bytes - kUsual));
}

/// The same as below of the store of earlier runs.
int fetch_old(u32 chain, Page& page, u8*& room, u64& room_bytes, u8** records, int most) {
  page.seen_old = true;
  u64 units;  // of this chain and the next
  if (probe_word(&units, &old->first[chain]) != 0) return 0;
  u32 unit = static_cast<u32>(units);
  int found = 0;
  for (int i = 0; i < kLongestWalk && unit != 0 && found < most; ++i) {
    if (!copy_old(unit, room, room_bytes)) break;
    auto* copy = reinterpret_cast<TranslationRecord*>(room);
    u32 bytes = copy->bytes;
    unit = copy->next;
    if (copy->pc / kPageSize != page.number || !copy_whole(copy, bytes, room)) continue;
    records[found++] = room;
    room += bytes;
    room_bytes -= bytes;
  }
  return found;
}

}  // namespace

int fetch_records(u32 chain, Page& page, u8* room, u64 room_bytes, u8** records, int most) {
  int found = 0;
  if (old != nullptr && !page.seen_old) found = fetch_old(chain, page, room, room_bytes, records, most);
  u32 unit = __atomic_load_n(&session->first[chain], __ATOMIC_ACQUIRE), first = unit;
  for (int i = 0; i < kLongestWalk && unit != 0 && unit != page.seen_record; ++i) {
    u32 bytes;
    const TranslationRecord* record = record_at(session, unit, bytes);
    if (record == nullptr) break;
    if (record->pc / kPageSize == page.number) {
      if (found == most || bytes > room_bytes) break;
      if (copy_whole(record, bytes, room)) {
        records[found++] = room;
        room += bytes;
        room_bytes -= bytes;
      }
    }
    unit = record->next;
  }
  page.seen_record = first;
  return found;
}

void store_block(u32 chain, Page& page, const BlockTranslator& t) {
  if (!t.save(building)) return;
  auto* record = reinterpret_cast<TranslationRecord*>(building);
  u32 bytes = record->bytes;
  u32 unit = reserve(bytes);
  if (unit == 0) return;
  auto* to = reinterpret_cast<TranslationRecord*>(reinterpret_cast<u8*>(session) + unit * kUnit);
  to->sum = copy_and_sum(record, to, bytes);
  u32& head = session->first[chain];
  u32 first = __atomic_load_n(&head, __ATOMIC_RELAXED);
  do {
    to->next = first;
  } while (!__atomic_compare_exchange_n(&head, &first, unit, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
  if (page.seen_record == first) page.seen_record = unit;
  ++statistics().blocks_stored;
}

}  // namespace detrec::guest::translate
