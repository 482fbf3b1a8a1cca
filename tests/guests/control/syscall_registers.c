// What the syscall instruction leaves: rax the result, rcx the address behind it, r11 the flags, all else
// unchanged.
#include <sys/syscall.h>
#include <time.h>

#include "guest.h"

static void check(unsigned long call, uint64_t result) {
  for (unsigned pattern = 0; pattern < 64; pattern++) {
    unsigned long want = 0x202 | (pattern & 1) | (pattern & 2 ? 4 : 0) | (pattern & 4 ? 16 : 0) |
                         (pattern & 8 ? 64 : 0) | (pattern & 16 ? 128 : 0) | (pattern & 32 ? 2048 : 0);
    uint64_t in[16], out[16], behind, flags, ignored;
    struct timespec now = {0, 0};
    for (unsigned i = 0; i < 16; i++) in[i] = 0x0101010101010101u * (i + 1) + pattern;
    if (call == SYS_clock_gettime) {
      in[3] = (uintptr_t)&now;
      in[4] = CLOCK_MONOTONIC;
    }
    in[13] = call;
    __asm__ volatile(
        "sub $128, %%rsp\n push %%rbx\n push %%rbp\n"
        "push %%rdx\n push %%rcx\n"
        "mov 8(%%rax), %%rbx\n mov 16(%%rax), %%rdx\n mov 24(%%rax), %%rsi\n mov 32(%%rax), %%rdi\n mov "
        "40(%%rax), %%rbp\n"
        "mov 48(%%rax), %%r8\n mov 56(%%rax), %%r9\n mov 64(%%rax), %%r10\n mov 72(%%rax), %%r12\n mov "
        "80(%%rax), %%r13\n"
        "mov 88(%%rax), %%r14\n mov 96(%%rax), %%r15\n"
        "mov 104(%%rax), %%rax\n"
        "pushq 8(%%rsp)\n popfq\n"
        "syscall\n"
        "1: xchg %%rax, (%%rsp)\n"  // the out pointer against the result
        "mov %%rbx, 8(%%rax)\n mov %%rdx, 16(%%rax)\n mov %%rsi, 24(%%rax)\n mov %%rdi, 32(%%rax)\n mov "
        "%%rbp, 40(%%rax)\n"
        "mov %%r8, 48(%%rax)\n mov %%r9, 56(%%rax)\n mov %%r10, 64(%%rax)\n mov %%r12, 72(%%rax)\n mov "
        "%%r13, 80(%%rax)\n"
        "mov %%r14, 88(%%rax)\n mov %%r15, 96(%%rax)\n mov %%rcx, 104(%%rax)\n mov %%r11, 112(%%rax)\n"
        "pushfq\n popq 120(%%rax)\n"
        "lea 1b(%%rip), %%rcx\n mov %%rcx, %%rdx\n popq (%%rax)\n pop %%rcx\n pop %%rbp\n pop %%rbx\n add "
        "$128, %%rsp\n"
        : "=a"(ignored), "=d"(behind), "=c"(flags)
        : "0"(in), "2"(out), "1"(want)
        : "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "memory", "cc");
    EXPECT_EQ(out[0], result);
    for (int i = 1; i <= 12; i++) EXPECT_EQ(out[i], in[i]);
    EXPECT(out[13] == behind);
    EXPECT_EQ(out[14], want);
    EXPECT_EQ(out[15], want);
  }
}

int main(void) {
  check(SYS_getpid, getpid());
  check(SYS_clock_gettime, 0);
  check(SYS_getuid, getuid());
  EXPECT_EQ(raw_syscall(SYS_getuid, 0, 0, 0, 0, 0, 0), getuid());
  EXPECT_EQ(raw_syscall(-1, 0, 0, 0, 0, 0, 0), -ENOSYS);
  EXPECT_EQ(raw_syscall(1000000, 0, 0, 0, 0, 0, 0), -ENOSYS);
  return guest_result();
}
