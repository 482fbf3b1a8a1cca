// Returns that do not match their calls: changed return addresses, skipped frames, returns taken twice,
// returns to the start of functions, calls never returned from, alternating depth (so that return predictions
// are wrong).
#include "guest.h"

static long count;

__asm__(
    ".text\n"
    // Returns two bytes behind its return address.
    "skip_two: addq $2, (%rsp)\n"
    "  ret\n"
    // Returns to its caller's caller.
    "skip_frame: add $8, %rsp\n"
    "  ret\n"
    "calls_skip_frame: call skip_frame\n"
    "  ud2\n"
    // Returns into a function, which then returns to our caller.
    "enter_other: lea other(%rip), %rax\n"
    "  push %rax\n"
    "  ret\n"
    "other: mov $77, %eax\n"
    "  ret\n"
    // Calls a function with a replaced return address.
    "replaced: lea 1f(%rip), %rax\n"
    "  mov %rax, (%rsp)\n"
    "  ret\n"
    "1: mov $5, %eax\n"
    "  jmp *%rdx\n");

int main(void) {
  for (int i = 0; i < 20000; i++) {
    int first, other, replaced;
    __asm__ volatile(
        "sub $128, %%rsp\n"
        "xor %0, %0\n"
        "call skip_two\n"
        ".byte 0xff, 0xff\n"  // never executed
        "inc %0\n"
        "call calls_skip_frame\n"
        "inc %0\n"
        "add $128, %%rsp\n"
        : "=&r"(first)
        :
        : "rax", "memory", "cc");
    count += first;
    __asm__ volatile("sub $128, %%rsp\n call enter_other\n add $128, %%rsp\n"
                     : "=a"(other)
                     :
                     : "memory", "cc");
    count += other;
    __asm__ volatile(
        "sub $128, %%rsp\n"
        "lea 1f(%%rip), %%rdx\n"
        "call replaced\n"
        "ud2\n"
        "1: add $128-8, %%rsp\n"
        "add $8, %%rsp\n"
        : "=a"(replaced)
        :
        : "rdx", "memory", "cc");
    count += replaced;
  }
  printf("%ld\n", count);
  EXPECT_EQ(count, 20000L * (2 + 77 + 5));

  // Return twice to the same place: the second return address is a copy of the first.
  int passes;
  __asm__ volatile(
      "sub $128, %%rsp\n"
      "xor %0, %0\n"
      "call 2f\n"
      "inc %0\n"
      "cmp $2, %0\n"
      "jl 3f\n"
      "jmp 4f\n"
      "2: mov (%%rsp), %%rax\n"
      "mov %%rax, %%rdx\n"
      "ret\n"
      "3: push %%rdx\n"
      "ret\n"
      "4: add $128, %%rsp\n"
      : "=&r"(passes)
      :
      : "rax", "rdx", "memory", "cc");
  EXPECT_EQ(passes, 2);

  // A thousand calls that are never returned from, then one stack reset.
  long depth;
  __asm__ volatile(
      "mov %%rsp, %%rdx\n"
      "sub $128, %%rsp\n"
      "mov $1000, %%ecx\n"
      "xor %%eax, %%eax\n"
      "1: call 2f\n"
      "ud2\n"
      "2: inc %%rax\n"
      "dec %%ecx\n"
      "jnz 1b\n"
      "mov %%rdx, %%rsp\n"
      : "=a"(depth)
      :
      : "rcx", "rdx", "memory", "cc");
  EXPECT_EQ(depth, 1000);
  return guest_result();
}
