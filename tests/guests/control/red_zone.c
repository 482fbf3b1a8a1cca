// A leaf function that keeps its loop state below rsp, through backward jumps, indirect jumps and emulated
// instructions.
#include "guest.h"

__asm__(
    ".text\n.globl leaf\nleaf:\n"
    "  mov %rdi, -8(%rsp)\n"   // counter
    "  movq $0, -16(%rsp)\n"   // sum
    "  movq $0, -128(%rsp)\n"  // last slot of the red zone
    "  lea 2f(%rip), %rax\n"
    "  mov %rax, -64(%rsp)\n"
    "1: mov -8(%rsp), %rax\n"
    "  add %rax, -16(%rsp)\n"
    "  incq -128(%rsp)\n"
    "  jmp *-64(%rsp)\n"
    "  ud2\n"
    "2: decq -8(%rsp)\n"
    "  jnz 1b\n"
    "  mov %rbx, -120(%rsp)\n"
    "  xor %eax, %eax\n xor %ecx, %ecx\n cpuid\n rdtsc\n"
    "  mov $39, %eax\n syscall\n"
    "  mov -120(%rsp), %rbx\n"
    "  mov -16(%rsp), %rax\n"
    "  add -128(%rsp), %rax\n"
    "  ret\n");
long leaf(long n);

int main(void) {
  EXPECT_EQ(leaf(1), 2);
  EXPECT_EQ(leaf(100000), 100000L * 100001 / 2 + 100000);
  printf("%ld\n", leaf(1000));
  return guest_result();
}
