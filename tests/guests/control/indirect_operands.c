// Indirect calls and jumps through every kind of operand: each register, bases, indexes, scales,
// displacements, rsp- and rbp-based slots, fs- and gs-based slots, rip-relative slots.
#include <asm/prctl.h>
#include <sys/syscall.h>

#include "guest.h"

long hits;
__thread void* thread_slot;
void landing(void);
__asm__(".text\nlanding: incq hits(%rip)\n ret\n");
void* pointer_slot = landing;

#define BY_REGISTER(reg)                                                                         \
  __asm__ volatile("sub $128, %%rsp\n lea landing(%%rip), %%" #reg "\n call *%%" #reg            \
                   "\n lea 1f(%%rip), %%" #reg "\n jmp *%%" #reg "\n ud2\n 1: add $128, %%rsp\n" \
                   :                                                                             \
                   :                                                                             \
                   : #reg, "memory", "cc");                                                      \
  expected++

#define BY_MEMORY(setup, operand)                                                                    \
  __asm__ volatile("sub $256, %%rsp\n lea landing(%%rip), %%r14\n" setup "call *" operand            \
                   "\n lea 1f(%%rip), %%r14\n" setup "jmp *" operand "\n ud2\n 1: add $256, %%rsp\n" \
                   :                                                                                 \
                   : [table] "r"(table)                                                              \
                   : "r14", "r15", "rax", "rcx", "rdx", "r13", "r12", "memory", "cc");               \
  expected++

int main(void) {
  static void* table[64];
  long expected = 0;
  for (int i = 0; i < 100; i++) {
    BY_REGISTER(rax);
    BY_REGISTER(rcx);
    BY_REGISTER(rdx);
    BY_REGISTER(rbx);
    BY_REGISTER(rsi);
    BY_REGISTER(rdi);
    BY_REGISTER(r8);
    BY_REGISTER(r9);
    BY_REGISTER(r10);
    BY_REGISTER(r11);
    BY_REGISTER(r12);
    BY_REGISTER(r13);
    BY_REGISTER(r14);
    BY_REGISTER(r15);
    // rbp, and the stack pointer itself as a jump's operand base.
    __asm__ volatile(
        "sub $128, %%rsp\n push %%rbp\n lea landing(%%rip), %%rbp\n call *%%rbp\n mov %%rsp, %%rbp\n"
        "lea landing(%%rip), %%rax\n push %%rax\n call *-8(%%rbp)\n call *(%%rsp)\n pop %%rax\n pop %%rbp\n "
        "add $128, %%rsp\n"
        :
        :
        : "rax", "memory", "cc");
    expected += 3;
    BY_MEMORY("mov %%r14, 8(%[table])\n", "8(%[table])");
    BY_MEMORY("mov %%r14, 400(%[table])\n", "400(%[table])");
    BY_MEMORY("mov $3, %%ecx\n mov %%r14, 24(%[table])\n", "(%[table],%%rcx,8)");
    BY_MEMORY("mov $3, %%eax\n mov %%r14, 40(%[table])\n", "16(%[table],%%rax,8)");
    BY_MEMORY("mov %[table], %%r12\n mov $5, %%r13d\n mov %%r14, 40(%[table])\n", "(%%r12,%%r13,8)");
    BY_MEMORY("mov %[table], %%r13\n mov %%r14, (%[table])\n", "(%%r13)");
    BY_MEMORY("mov %[table], %%r12\n mov %%r14, (%[table])\n", "(%%r12)");
    BY_MEMORY(
        "mov %[table], %%rax\n shr $3, %%rax\n mov %[table], %%rdx\n and $7, %%edx\n mov %%r14, (%[table])\n",
        "(%%rdx,%%rax,8)");
    BY_MEMORY("mov %%r14, 16(%%rsp)\n", "16(%%rsp)");
    BY_MEMORY("mov %%r14, 128(%%rsp)\n mov $16, %%ecx\n", "(%%rsp,%%rcx,8)");
    BY_MEMORY("mov %%r14, pointer_slot(%%rip)\n", "pointer_slot(%%rip)");
    BY_MEMORY("mov %%r14, %%fs:thread_slot@tpoff\n", "%%fs:thread_slot@tpoff");
    BY_MEMORY("mov $8, %%ecx\n mov %%r14, %%fs:thread_slot@tpoff\n", "%%fs:thread_slot@tpoff-8(%%rcx)");
  }
  // gs: a base of our own.
  REQUIRE(syscall(SYS_arch_prctl, ARCH_SET_GS, table) == 0);
  BY_MEMORY("mov %%r14, %%gs:64\n", "%%gs:64");
  BY_MEMORY("mov $8, %%edx\n mov %%r14, %%gs:64\n", "%%gs:(,%%rdx,8)");
  unsigned long base = 0;
  REQUIRE(syscall(SYS_arch_prctl, ARCH_GET_GS, &base) == 0);
  EXPECT(base == (uintptr_t)table);
  EXPECT_EQ(hits, expected);
  printf("%ld\n", hits);
  thread_slot = NULL;
  return guest_result();
}
