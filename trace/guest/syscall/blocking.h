// Waiting in the kernel, and where it may write meanwhile.
//
// While a thread waits, others of its address space run: the turn is lent, and the kernel writes into a
// bounce buffer, which is copied out when the turn is back. A thread that is alone in its address space waits
// with the guest's own pointers.
#pragma once

#include "trace/guest/process.h"
#include "trace/guest/run/threads.h"
#include "trace/guest/syscall/handlers.h"

namespace detrec::guest::syscall {

/// True when no other thread could run during a wait.
inline bool alone() { return process().thread_count == 1; }

/// Executes a call that may wait, the turn lent unless alone(). Results are the kernel's, and the
/// signal::kERestart* codes of an interrupted call.
SysResult kernel_wait(Turn& turn, long nr, const Args& args);

/// Memory of the engine that stands in for the guest's during a wait. Comes from the waiting thread's own
/// bounce memory.
class Bounce {
 public:
  explicit Bounce(Turn& turn) : thread_(run::kernel_thread(turn.thread())) {}
  ~Bounce();
  Bounce(const Bounce&) = delete;
  Bounce& operator=(const Bounce&) = delete;

  /// 16-byte aligned memory, contents undefined; nullptr when there were too many large requests.
  void* take(u64 bytes);
  /// Takes memory with the content of the guest's, which it stands in for: what the kernel writes there is
  /// copied out. nullptr when the guest's cannot be read.
  void* stand_in(GuestAddr guest, u64 bytes);

  /// kernel_wait with arguments that point to stand-ins, then the copies. -EFAULT when a copy failed.
  SysResult wait(Turn& turn, const SyscallRow& row, const Args& args);

 private:
  static constexpr u64 kOwn = 256 * 1024;  ///< reserved per thread, touched as needed
  static constexpr int kMaxLarge = 16;
  static constexpr int kMaxStands = 4096;
  struct Large {
    void* start;
    u64 bytes;
  };
  struct Stand {
    u64 engine;
    u64 bytes;
    GuestAddr guest;
  };

  bool remember(GuestAddr guest, u64 bytes, void* buffer);
  GuestAddr guest_address(u64 engine) const;

  run::KernelThread& thread_;
  u64 used_ = 0;
  Large large_[kMaxLarge];
  int large_count_ = 0;
  Stand* stands_ = nullptr;
  int stand_count_ = 0;
};

/// Waits with bounce buffers for every argument that the row says is written.
SysResult bounced_wait(Turn& turn, const SyscallRow& row, const Args& args);

// The families of waiting calls that need more than that. Arguments have been through prepare().
SysResult read_family(Turn& turn, const SyscallRow& row, const Args& args);
SysResult write_family(Turn& turn, const SyscallRow& row, const Args& args);
SysResult receive_family(Turn& turn, const SyscallRow& row, const Args& args);
SysResult send_family(Turn& turn, const SyscallRow& row, const Args& args);
SysResult poll_family(Turn& turn, const SyscallRow& row, const Args& args);
SysResult select_family(Turn& turn, const SyscallRow& row, const Args& args);
SysResult epoll_family(Turn& turn, const SyscallRow& row, const Args& args);

}  // namespace detrec::guest::syscall
