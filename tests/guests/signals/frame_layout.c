// The frame a handler is given: alignment, entry registers, flags, context header, extended state, skipped
// red zone.
#include <asm/sigcontext.h>
#include <cpuid.h>
#include <sys/syscall.h>

#include "guest.h"

// The kernel's own declarations, not libc's, and a handler entered in assembly that keeps what it saw.
struct kernel_sigaction {
  void* handler;
  unsigned long flags;
  void* restorer;
  unsigned long mask;
};
struct kernel_ucontext {
  unsigned long flags;
  void* link;
  struct {
    void* sp;
    int flags;
    size_t size;
  } stack;
  struct sigcontext context;
  unsigned long mask;
};

uint64_t entry_rax, entry_rdi, entry_rsi, entry_rdx, entry_rsp, entry_flags, entry_return;
void entry(void);
void restore(void);
__asm__(
    ".text\n.globl entry\nentry:\n"
    "  mov %rax, entry_rax(%rip)\n mov %rdi, entry_rdi(%rip)\n mov %rsi, entry_rsi(%rip)\n mov %rdx, "
    "entry_rdx(%rip)\n"
    "  mov %rsp, entry_rsp(%rip)\n mov (%rsp), %rax\n mov %rax, entry_return(%rip)\n"
    "  pushfq\n pop entry_flags(%rip)\n"
    "  jmp inspect\n"
    ".globl restore\nrestore: mov $15, %eax\n syscall\n");

static uint64_t interrupted_rsp;

__attribute__((used)) void inspect(int number, int* info, struct kernel_ucontext* context) {
  EXPECT_EQ(number, 10);
  EXPECT_EQ(entry_rax, 0);
  EXPECT_EQ(entry_rdi, 10);
  EXPECT_EQ((entry_rsp + 8) % 16, 0);
  EXPECT(entry_return == (uint64_t)&restore);
  EXPECT(entry_rdx == entry_rsp + 8);  // the context lies behind the return address,
  EXPECT((uint64_t)info == entry_rdx + sizeof(struct kernel_ucontext));  // the information behind the context
  EXPECT_EQ(entry_flags & 0x400, 0);                                     // direction flag clear
  printf("flags %lx, link %d\n", context->flags, context->link != NULL);
  EXPECT_EQ(context->mask, 1ul << 15);
  EXPECT_EQ(context->context.cs, 0x33);
  EXPECT_EQ(context->context.__pad0, 0x2b);         // ss
  EXPECT(context->context.rsp - 128 >= entry_rsp);  // the red zone is left alone
  interrupted_rsp = context->context.rsp;
  struct _fpstate* state = context->context.fpstate;
  REQUIRE(state != NULL);
  EXPECT_EQ((uintptr_t)state % 64, 0);
  EXPECT((uintptr_t)state > (uintptr_t)info);
  struct _fpx_sw_bytes* software = &state->sw_reserved;
  EXPECT_EQ(software->magic1, FP_XSTATE_MAGIC1);
  EXPECT(software->extended_size >= 512 + 64 + 4);
  EXPECT_EQ(software->extended_size, software->xstate_size + 4);
  EXPECT_EQ(*(unsigned*)((char*)state + software->xstate_size), FP_XSTATE_MAGIC2);
  unsigned low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  EXPECT_EQ((unsigned)software->xfeatures & ~low, 0);
  unsigned eax, ebx, ecx, edx;
  __cpuid_count(13, 0, eax, ebx, ecx, edx);
  // The tiles' data (AMX) has a place in the frame only for programs that asked for them.
  const unsigned tile_data = 1u << 18;
  if ((low & tile_data) != 0 && (software->xfeatures & tile_data) == 0)
    EXPECT(software->xstate_size < ebx);
  else
    EXPECT_EQ(software->xstate_size, ebx);
  printf("siginfo: number %d, errno %d, code %d\n", info[0], info[1], info[2]);
}

int main(void) {
  struct kernel_sigaction action = {(void*)entry, 0x04000004, (void*)restore, 0};  // SA_RESTORER | SA_SIGINFO
  REQUIRE(syscall(SYS_rt_sigaction, 10, &action, NULL, 8) == 0);
  unsigned long mask = 1ul << 15;  // SIGSTKFLT, to be seen in the context
  REQUIRE(syscall(SYS_rt_sigprocmask, 2, &mask, NULL, 8) == 0);
  uint64_t kept, pid = (uint64_t)getpid(), tid = (uint64_t)gettid();
  // tgkill of ourselves with the direction flag set and values in the red zone.
  __asm__ volatile(
      "mov %%rsp, %%rbx\n"
      "movq $0x1234, -8(%%rsp)\n movq $0x5678, -128(%%rsp)\n std\n"
      "mov $234, %%eax\n mov $10, %%edx\n syscall\n cld\n"
      "mov -8(%%rsp), %%rcx\n add -128(%%rsp), %%rcx\n"
      : "=&c"(kept)
      : "D"(pid), "S"(tid)
      : "rax", "rbx", "rdx", "r11", "memory", "cc");
  EXPECT_EQ(kept, 0x1234 + 0x5678);
  EXPECT(interrupted_rsp != 0);
  return guest_result();
}
