// enter (with and without nesting), leave, push and pop of rsp and through rsp, xlat, big frames, a stack
// pointer that is not aligned, and one that is no stack at all.
#include "guest.h"

static uint64_t scratch[1024];

static __attribute__((noinline)) long big_frame(int n) {
  volatile char frame[1 << 20];
  frame[0] = (char)n;
  frame[sizeof frame - 1] = 2;
  return frame[0] + frame[sizeof frame - 1] + (n > 0 ? big_frame(n - 1) : 0);
}

int main(void) {
  uint64_t depth, pushed, popped;
  // enter $32, $0 : push rbp; mov rsp, rbp; sub 32.
  __asm__ volatile(
      "sub $128, %%rsp\n mov %%rsp, %%rdx\n mov %%rbp, %%rsi\n mov $0x1234, %%ebp\n enter $32, $0\n"
      "mov %%rdx, %0\n sub %%rsp, %0\n mov (%%rbp), %1\n leave\n mov %%rbp, %2\n mov %%rsi, %%rbp\n add "
      "$128, %%rsp\n"
      : "=&a"(depth), "=&b"(pushed), "=&c"(popped)
      :
      : "rdx", "rsi", "memory", "cc");
  EXPECT_EQ(depth, 40);
  EXPECT_EQ(pushed, 0x1234);
  EXPECT_EQ(popped, 0x1234);
  // enter with nesting copies frame pointers.
  __asm__ volatile(
      "sub $128, %%rsp\n mov %%rsp, %%rdx\n mov %%rbp, %%rsi\n lea -8(%%rsp), %%rbp\n"
      "push $0x11\n push $0x22\n push $0x33\n lea 24(%%rsp), %%rbp\n enter $16, $3\n"
      "mov %%rdx, %0\n sub %%rsp, %0\n mov -8(%%rbp), %1\n mov -16(%%rbp), %2\n leave\n add $24, %%rsp\n mov "
      "%%rsi, %%rbp\n"
      "add $128, %%rsp\n"
      : "=&a"(depth), "=&b"(pushed), "=&c"(popped)
      :
      : "rdx", "rsi", "memory", "cc");
  EXPECT_EQ(depth, 24 + 8 + 3 * 8 + 16);
  EXPECT_EQ(pushed, 0x11);
  EXPECT_EQ(popped, 0x22);

  // push rsp pushes the old value, pop rsp loads it; operands relative to rsp.
  uint64_t difference;
  __asm__ volatile(
      "sub $128, %%rsp\n mov %%rsp, %%rdx\n push %%rsp\n sub (%%rsp), %%rdx\n mov %%rdx, %0\n pop %%rsp\n"
      "push $0x55\n push $0x66\n push 8(%%rsp)\n pop %1\n pop 8(%%rsp)\n pop %2\n"
      "add $120, %%rsp\n add $8, %%rsp\n"
      : "=&S"(difference), "=&b"(pushed), "=&c"(popped)
      :
      : "rdx", "memory", "cc");
  EXPECT_EQ(difference, 0);
  EXPECT_EQ(pushed, 0x55);

  // 16-bit pushes and segment registers.
  __asm__ volatile(
      "sub $128, %%rsp\n mov %%rsp, %%rdx\n pushw $0x7788\n pushw $0x5566\n mov (%%rsp), %k1\n popw %w2\n "
      "add $2, %%rsp\n"
      "push %%fs\n pop %%rax\n sub %%rsp, %%rdx\n mov %%rdx, %0\n add $128, %%rsp\n"
      : "=&S"(difference), "=&b"(pushed), "=&c"(popped)
      :
      : "rax", "rdx", "memory", "cc");
  EXPECT_EQ(difference, 0);
  EXPECT_EQ((uint32_t)pushed, 0x77885566);

  // xlat.
  unsigned char table[256], result;
  for (int i = 0; i < 256; i++) table[i] = (unsigned char)(255 - i);
  __asm__ volatile("xlat" : "=a"(result) : "0"((unsigned char)100), "b"(table));
  EXPECT_EQ(result, 155);

  printf("%ld\n", big_frame(5));

  // An unaligned stack: calls, pushes, returns still work.
  for (int offset = 1; offset < 16; offset++) {
    uint64_t got;
    __asm__ volatile(
        "mov %%rsp, %%rbx\n sub $256, %%rsp\n sub %1, %%rsp\n call 1f\n jmp 2f\n 1: push $77\n pop %%rax\n "
        "ret\n"
        "2: mov %%rbx, %%rsp\n"
        : "=&a"(got)
        : "r"((uint64_t)offset)
        : "rbx", "memory", "cc");
    EXPECT_EQ(got, 77);
  }

  // A stack in the data segment.
  uint64_t got;
  __asm__ volatile(
      "mov %%rsp, %%rbx\n lea 4096(%1), %%rsp\n call 1f\n jmp 2f\n 1: push %%rax\n call 3f\n pop %%rax\n "
      "ret\n"
      "3: mov $66, %%eax\n mov %%rax, 8(%%rsp)\n ret\n 2: mov %%rbx, %%rsp\n"
      : "=&a"(got)
      : "r"(scratch)
      : "rbx", "memory", "cc");
  EXPECT_EQ(got, 66);

  // No stack at all: loops, indirect jumps, emulated instructions and system calls with rsp = 0.
  uint64_t loops, pid;
  __asm__ volatile(
      "mov %%rsp, %%r12\n xor %%esp, %%esp\n"
      "mov $1000, %%r13d\n xor %%r14d, %%r14d\n lea 2f(%%rip), %%r15\n"
      "1: inc %%r14\n jmp *%%r15\n ud2\n 2: dec %%r13d\n jnz 1b\n"
      "xor %%eax, %%eax\n xor %%ecx, %%ecx\n cpuid\n rdtsc\n"
      "mov $39, %%eax\n syscall\n"
      "mov %%r12, %%rsp\n mov %%r14, %0\n"
      : "=&r"(loops), "=&a"(pid)
      :
      : "rbx", "rcx", "rdx", "r11", "r12", "r13", "r14", "r15", "memory", "cc");
  EXPECT_EQ(loops, 1000);
  EXPECT_EQ(pid, getpid());
  return guest_result();
}
