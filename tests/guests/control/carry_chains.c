// Carries that live across loops, calls and jumps: long additions with adc in loops, through calls and
// indirect jumps.
#include "guest.h"

enum { kWords = 200 };

__asm__(
    ".text\n"
    "add_step: mov (%rsi), %rax\n"
    "  adc (%rdi), %rax\n"
    "  mov %rax, (%rdx)\n"
    "  ret\n"
    // add_by_calls(result, a, b, n): one call a word, the carry in CF all along (lea and dec keep it).
    ".globl add_by_calls\nadd_by_calls:\n"
    "  mov %rdx, %r8\n mov %rcx, %r9\n mov %rdi, %rdx\n mov %r8, %rdi\n"
    "  clc\n"
    "1: call add_step\n"
    "  lea 8(%rsi), %rsi\n lea 8(%rdi), %rdi\n lea 8(%rdx), %rdx\n"
    "  dec %r9\n"
    "  jnz 1b\n"
    "  setc %al\n movzbl %al, %eax\n ret\n"
    // add_by_jumps: the same with indirect jumps there and back.
    ".globl add_by_jumps\nadd_by_jumps:\n"
    "  mov %rdx, %r8\n mov %rcx, %r9\n mov %rdi, %rdx\n mov %r8, %rdi\n"
    "  lea 2f(%rip), %r10\n lea 3f(%rip), %r11\n"
    "  clc\n"
    "1: jmp *%r10\n"
    "  ud2\n"
    "2: mov (%rsi), %rax\n adc (%rdi), %rax\n mov %rax, (%rdx)\n jmp *%r11\n"
    "3: lea 8(%rsi), %rsi\n lea 8(%rdi), %rdi\n lea 8(%rdx), %rdx\n dec %r9\n jnz 1b\n"
    "  setc %al\n movzbl %al, %eax\n ret\n"
    // add_by_loop: with the loop instruction.
    ".globl add_by_loop\nadd_by_loop:\n"
    "  xor %r8d, %r8d\n"
    "1: mov (%rsi,%r8,8), %rax\n adc (%rdx,%r8,8), %rax\n mov %rax, (%rdi,%r8,8)\n lea 1(%r8), %r8\n loop "
    "1b\n"
    "  setc %al\n movzbl %al, %eax\n ret\n");

int add_by_calls(uint64_t* result, const uint64_t* a, const uint64_t* b, long n);
int add_by_jumps(uint64_t* result, const uint64_t* a, const uint64_t* b, long n);
int add_by_loop(uint64_t* result, const uint64_t* a, const uint64_t* b, long n);

int main(void) {
  static uint64_t a[kWords], b[kWords], want[kWords], got[kWords];
  uint64_t x = 88172645463325252u;
  for (int round = 0; round < 50; round++) {
    unsigned __int128 carry = 0;
    for (int i = 0; i < kWords; i++) {
      x ^= x << 13, x ^= x >> 7, x ^= x << 17;
      a[i] = x;
      b[i] = i % 3 == 0 ? ~x : x * 0x9e3779b97f4a7c15u;  // complements pass a carry on
      carry += (unsigned __int128)a[i] + b[i];
      want[i] = (uint64_t)carry;
      carry >>= 64;
    }
    EXPECT_EQ(add_by_calls(got, a, b, kWords), (int)carry);
    EXPECT(memcmp(got, want, sizeof want) == 0);
    memset(got, 0, sizeof got);
    EXPECT_EQ(add_by_jumps(got, a, b, kWords), (int)carry);
    EXPECT(memcmp(got, want, sizeof want) == 0);
    memset(got, 0, sizeof got);
    EXPECT_EQ(add_by_loop(got, a, b, kWords), (int)carry);
    EXPECT(memcmp(got, want, sizeof want) == 0);
  }
  printf("last word %lx\n", want[kWords - 1]);
  return guest_result();
}
