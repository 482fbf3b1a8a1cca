// clone without libc's threads: own stack, own thread-local base, the child's id stored and cleared with a
// wake-up, many flag combinations, clone3.
// @recorded-differs: a child process shares no memory with a recorded one
// @recorded-part: child processes are not recorded
#include <linux/futex.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "guest.h"

static char stacks[4][64 << 10] __attribute__((aligned(16)));
static volatile int ran, child_tid, parent_tid;
static volatile unsigned long child_fs;
static long area[64];

static int thread_like(void* argument) {
  unsigned long base;
  __asm__ volatile("mov %%fs:0, %0" : "=r"(base));
  child_fs = base;
  __atomic_fetch_add(&ran, (int)(long)argument, __ATOMIC_SEQ_CST);
  return 0;
}

// clone by the bare call; the child runs function(argument) on the stack and exits (this thread only).
static long start(unsigned long flags, char* stack, int (*function)(void*), void* argument,
                  volatile int* parent, volatile int* child, void* tls) {
  long result;
  register long r10 __asm__("r10") = (long)child;
  register long r8 __asm__("r8") = (long)tls;
  void** top = (void**)(stack + sizeof stacks[0] - 64);
  top[0] = (void*)(uintptr_t)function;
  top[1] = argument;
  __asm__ volatile(
      "syscall\n test %%rax, %%rax\n jnz 1f\n"
      "pop %%rax\n pop %%rdi\n xor %%ebp, %%ebp\n call *%%rax\n mov %%eax, %%edi\n mov $60, %%eax\n "
      "syscall\n hlt\n 1:\n"
      : "=a"(result)
      : "0"(SYS_clone), "D"(flags), "S"(top), "d"(parent), "r"(r10), "r"(r8)
      : "rcx", "r11", "memory");
  return result;
}

static void wait_cleared(volatile int* word) {
  int value;
  while ((value = __atomic_load_n(word, __ATOMIC_SEQ_CST)) != 0)
    syscall(SYS_futex, word, FUTEX_WAIT, value, NULL, NULL, 0);
}

static int forked(void* argument) {
  ran += 1000;  // in a copy
  return (int)(long)argument;
}

int main(void) {
  unsigned long flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
                        CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID | CLONE_CHILD_SETTID;
  for (int i = 0; i < 100; i++) {
    child_tid = -1;
    area[0] = (long)area;
    long tid = start(flags, stacks[i % 4], thread_like, (void*)3, &parent_tid, &child_tid, area);
    EXPECT(tid > 0);
    EXPECT_EQ(parent_tid, tid);
    wait_cleared(&child_tid);
    EXPECT(child_fs == (unsigned long)area);
  }
  EXPECT_EQ(ran, 300);

  // Shared memory, but a process of its own.
  long pid = start(CLONE_VM | SIGCHLD, stacks[0], thread_like, (void*)5, NULL, NULL, NULL);
  EXPECT(pid > 0);
  int status;
  EXPECT_EQ(waitpid((pid_t)pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(ran, 305);

  // A copy, as fork, with another stack and the ids stored on both sides.
  pid = start(SIGCHLD | CLONE_PARENT_SETTID, stacks[1], forked, (void*)21, &parent_tid, NULL, NULL);
  EXPECT_EQ(parent_tid, pid);
  EXPECT_EQ(waitpid((pid_t)pid, &status, 0), pid);
  EXPECT_EQ(status, 21 << 8);
  EXPECT_EQ(ran, 305);

  // As vfork.
  pid = start(CLONE_VM | CLONE_VFORK | SIGCHLD, stacks[2], thread_like, (void*)7, NULL, NULL, NULL);
  EXPECT_EQ(ran, 312);
  EXPECT_EQ(waitpid((pid_t)pid, &status, 0), pid);

  // No signal at the end: waited for with __WCLONE only.
  pid = start(0, stacks[3], forked, (void*)1, NULL, NULL, NULL);
  EXPECT_ERROR(waitpid((pid_t)pid, &status, 0), ECHILD);
  EXPECT_EQ(waitpid((pid_t)pid, &status, __WCLONE), pid);
  EXPECT_EQ(status, 1 << 8);

  // clone3 as fork, with the exit signal in its structure.
  struct clone_args arguments;
  memset(&arguments, 0, sizeof arguments);
  arguments.exit_signal = SIGCHLD;
  pid = syscall(SYS_clone3, &arguments, sizeof arguments);
  if (pid == 0) _exit(33);
  if (pid < 0) {
    EXPECT_EQ(errno, ENOSYS);  // what old kernels say; libc then uses clone
  } else {
    EXPECT_EQ(waitpid((pid_t)pid, &status, 0), pid);
    EXPECT_EQ(status, 33 << 8);
  }
  EXPECT_EQ(start(CLONE_THREAD, stacks[0], forked, NULL, NULL, NULL, NULL), -EINVAL);
  EXPECT_EQ(start(CLONE_SIGHAND, stacks[0], forked, NULL, NULL, NULL, NULL), -EINVAL);
  return guest_result();
}
