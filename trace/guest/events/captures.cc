// Recording: passes the descriptors of mapped files to the server, which keeps their content.
#include <asm/stat.h>
#include <linux/fcntl.h>
#include <linux/mman.h>
#include <linux/time.h>

#include "trace/guest/base/print.h"
#include "trace/guest/base/string.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/events/mappings.h"
#include "trace/guest/events/record.h"
#include "trace/guest/process.h"
#include "trace/guest/run/ticks.h"
#include "trace/guest/syscall/host_clock.h"
#include "trace/wire/capture.h"

namespace detrec::guest::events {
namespace {

/// A version of a file that has been captured.
struct Known {
  u64 device, inode, mtime_ns, ctime_ns, size;
  u32 capture;
  bool settled;  ///< a later change would have another mtime, and nobody here can write to it
};
constexpr u32 kMostKnown = 1024;  // beyond that files are captured again: only slower
Known known[kMostKnown];
u32 known_count = 0;

/// struct msghdr, iovec and cmsghdr with one descriptor (man 2 sendmsg).
struct Vector {
  const void* base;
  u64 size;
};
struct Header {
  void* name;
  u32 name_size, pad;
  const Vector* vectors;
  u64 vector_count;
  const void* control;
  u64 control_size;
  u32 flags, pad2;
};
struct Rights {
  u64 size;
  i32 level, type;
  i32 fd, pad;
};

/// False when the server is not there any more.
bool send(const wire::CaptureMessage& message, i32 fd) {
  constexpr i32 kSolSocket = 1, kScmRights = 1;
  constexpr u64 kNoSignal = 0x4000;
  u64 size = offsetof(wire::CaptureMessage, path) + strlen(message.path) + 1;
  Vector vector{&message, size};
  Rights rights{20, kSolSocket, kScmRights, fd, 0};
  Header header{nullptr, 0, 0, &vector, 1, &rights, sizeof rights, 0, 0};
  auto control = static_cast<u64>(process().own_fds[kControlFd]);
  constexpr SysResult kEIntr = -4;
  SysResult r;
  do r = raw_syscall(__NR_sendmsg, control, arg(&header), kNoSignal);
  while (r == kEIntr);
  if (failed(r)) return false;
  if (message.answer == 0) return true;
  u8 answer;
  do r = raw_syscall(__NR_recvfrom, control, arg(&answer), 1, 0, 0, 0);
  while (r == kEIntr);
  return r == 1;
}

/// A file that was changed this shortly before may change again with the same mtime.
constexpr u64 kRacyNs = 1'000'000'000;

bool is_settled(u64 changed_ns) {
  syscall::Timespec now;
  syscall::host_clock_gettime(CLOCK_REALTIME, now);
  u64 now_ns = static_cast<u64>(now.seconds) * 1'000'000'000 + static_cast<u64>(now.nanoseconds);
  return changed_ns + kRacyNs < now_ns;
}

/// Stores through a mapping do not change the mtime each time.
bool is_stored_to(u64 device, u64 inode) {
  const memory::RegionMap& map = memory::address_space().map;
  if (!map.may_share_writable(device, inode)) return false;
  for (const memory::Region* m = map.at_or_after(0); m != nullptr; m = map.at_or_after(m->end)) {
    if (m->shared && m->inode == inode && m->device == device && (m->prot & PROT_WRITE) != 0) return true;
  }
  return false;
}

bool may_be_written(i32 fd) {
  SysResult flags = raw_syscall(__NR_fcntl, static_cast<u64>(fd), F_GETFL);
  return failed(flags) || (flags & O_ACCMODE) != O_RDONLY;
}

u32 capture(i32 fd, const memory::Object& object) {
  struct stat status;
  if (failed(raw_syscall(__NR_fstat, static_cast<u64>(fd), arg(&status)))) return 0;
  constexpr u64 kNanosPerSecond = 1'000'000'000;
  // Copying tools keep the mtime; nothing keeps the ctime.
  u64 ctime_ns = status.st_ctime * kNanosPerSecond + status.st_ctime_nsec;
  wire::CaptureMessage message;
  message.device = status.st_dev;
  message.inode = status.st_ino;
  message.mtime_ns = status.st_mtime * kNanosPerSecond + status.st_mtime_nsec;
  message.size = static_cast<u64>(status.st_size);
  bool writable = may_be_written(fd);
  u64 changed_ns = message.mtime_ns > ctime_ns ? message.mtime_ns : ctime_ns;
  bool settled = !writable && is_settled(changed_ns) && !is_stored_to(message.device, message.inode);
  message.answer = settled ? 0 : 1;
  for (u32 i = 0; i < known_count && settled; ++i) {
    const Known& k = known[i];
    if (k.settled && k.device == message.device && k.inode == message.inode &&
        k.mtime_ns == message.mtime_ns && k.ctime_ns == ctime_ns && k.size == message.size)
      return k.capture;
  }
  message.capture = __atomic_add_fetch(&process().launch->captures, 1, __ATOMIC_RELAXED);
  copy_string(message.path, memory::address_space().names.text(object.name), sizeof message.path);
  if (!send(message, fd)) return 0;
  Known& k = known[known_count < kMostKnown ? known_count++ : message.capture % kMostKnown];
  k = {message.device, message.inode, message.mtime_ns, ctime_ns, message.size, message.capture, settled};
  return message.capture;
}

u32 captures_sent() { return __atomic_load_n(&process().launch->captures, __ATOMIC_RELAXED); }

void await_capture(u32 number) {
  for (u32 seen; (seen = captures_read()) < number;) await_capture_after(seen);
}

}  // namespace

bool captures_pending() { return recording() && captures_read() < captures_sent(); }

void await_captures_of(u64 device, u64 inode) {
  if (!captures_pending()) return;
  if (known_count == kMostKnown) return await_captures();  // the one in question may be forgotten
  if (u32 number = capture_of(device, inode); number != 0) await_capture(number);
}

void await_captures() {
  if (captures_pending()) await_capture(captures_sent());
}

u32 capture_of(u64 device, u64 inode) {
  for (u32 i = known_count; i-- > 0;) {
    if (known[i].device == device && known[i].inode == inode) return known[i].capture;
  }
  return 0;
}

namespace {

/// A descriptor of the same file that can be read, as the server needs it; `fd` itself when it can. Negative:
/// none.
i32 readable(i32 fd) {
  SysResult flags = raw_syscall(__NR_fcntl, static_cast<u64>(fd), F_GETFL);
  if (failed(flags) || (flags & O_ACCMODE) != O_WRONLY) return fd;
  char link[48];
  format(link, sizeof link, "/proc/thread-self/fd/%d", fd);
  return static_cast<i32>(raw_syscall(__NR_open, arg(link), O_RDONLY | O_CLOEXEC));
}

}  // namespace

void record_shorter_file(Turn& turn, i32 fd, u64 device, u64 inode) {
  const memory::AddressSpace& space = memory::address_space();
  for (const memory::Region* m = space.map.at_or_after(0); m != nullptr; m = space.map.at_or_after(m->end)) {
    if (m->inode != inode || m->device != device) continue;
    memory::Object object;
    object.device = device;
    object.inode = inode;
    object.name = m->name;
    object.regular = true;
    u32 flags = m->shared ? MAP_SHARED : MAP_PRIVATE;
    i32 source = readable(fd);
    if (source < 0) return;  // no /proc: the replay will notice if it matters
    record_file_mapping(turn, {m->begin, m->bytes(), m->prot, flags, source, m->file_offset, &object});
    if (source != fd) raw_syscall(__NR_close, static_cast<u64>(source));
    return;
  }
}

void record_file_mapping(Turn& turn, const FileMapping& m) {
  u32 number = m.object->regular ? capture(m.fd, *m.object) : 0;
  if (process().launch->phase == wire::LaunchPhase::kStarting || turn.thread().number == 0) return;
  Record record(turn, wire::EventKind::kMapping);
  auto& body = append_mapping(record, m.object->device, m.object->inode, m.object->name);
  body.address = m.address;
  body.length = m.length;
  body.protection = m.protection;
  body.map_flags = m.flags;
  body.file_offset = m.offset;
  body.content = number != 0 ? wire::Content::kCapture : wire::Content::kZero;
  body.capture = number;
  record.commit();
}

}  // namespace detrec::guest::events
