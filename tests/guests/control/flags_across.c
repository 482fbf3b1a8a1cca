// A transfer of control changes nothing but the pc: all flags (CF PF AF ZF SF OF DF), all general registers
// and the red zone are the same on the other side of every kind of jump, call and return, for every pattern
// of flags.
#include "guest.h"

typedef struct {
  uint64_t gpr[16];  // in encoding order; rsp is checked by the stub itself
  uint64_t flags;
} State;

State before, after;
uint64_t saved_rsp, rsp_difference, red_zone_sum;

// The stub: saves the callee-saved registers, fills red zone, registers and flags, transfers, stores
// everything.
#define LOAD(register, index) "mov before + 8*" #index "(%rip), %" #register "\n"
#define STORE(register, index) "mov %" #register ", after + 8*" #index "(%rip)\n"
#define TRANSFER(name, text)                                                                                 \
  __asm__(".text\nstub_" #name                                                                               \
          ":\n"                                                                                              \
          "push %rbx\n push %rbp\n push %r12\n push %r13\n push %r14\n push %r15\n"                          \
          "mov %rsp, saved_rsp(%rip)\n"                                                                      \
          "sub $4096, %rsp\n"                                                                                \
          "lea 95f(%rip), %rax\n mov %rax, pointer_" #name                                                   \
          "(%rip)\n" /* the red zone */                                                                      \
          "mov $16, %ecx\n"                                                                                  \
          "90: neg %rcx\n mov %rcx, (%rsp,%rcx,8)\n neg %rcx\n dec %rcx\n jnz 90b\n"                         \
          "pushq before + 128(%rip)\n popfq\n"                                                               \
          "movq $-1, -8(%rsp)\n" /* the pushq wrote there */                                                 \
          LOAD(rax, 0) LOAD(rcx, 1) LOAD(rdx, 2) LOAD(rbx, 3) LOAD(rbp, 5) LOAD(rsi, 6) LOAD(rdi, 7)         \
              LOAD(r8, 8) LOAD(r9, 9) LOAD(r10, 10) LOAD(r11, 11) LOAD(r12, 12) LOAD(r13, 13) LOAD(r14, 14)  \
                  LOAD(r15, 15) text                                                                         \
          "95:\n" STORE(rax, 0) STORE(rcx, 1) STORE(rdx, 2) STORE(rbx, 3) STORE(rbp, 5) STORE(rsi, 6) STORE( \
              rdi, 7) STORE(r8, 8) STORE(r9, 9) STORE(r10, 10) STORE(r11, 11) STORE(r12, 12) STORE(r13, 13)  \
              STORE(r14, 14) STORE(                                                                          \
                  r15,                                                                                       \
                  15) /* the red zone sum before the flags are pushed over it; lea and mov keep the flags */ \
          "mov -16(%rsp), %rax\n mov -24(%rsp), %rcx\n lea (%rax,%rcx), %rax\n"                              \
          "mov -64(%rsp), %rcx\n lea (%rax,%rcx), %rax\n mov -128(%rsp), %rcx\n lea (%rax,%rcx), %rax\n"     \
          "mov %rax, red_zone_sum(%rip)\n"                                                                   \
          "pushfq\n popq after + 128(%rip)\n cld\n"                                                          \
          "mov saved_rsp(%rip), %rax\n sub %rsp, %rax\n mov %rax, rsp_difference(%rip)\n"                    \
          "mov saved_rsp(%rip), %rsp\n"                                                                      \
          "pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbp\n pop %rbx\n ret\n"                          \
          ".local pointer_" #name "\n.comm pointer_" #name ",8,8\n");                                        \
  void stub_##name(void);

#define NAMES(do)                                                                                                                                               \
  do                                                                                                                                                            \
  (none) do(jmp_forward) do(jmp_backward) do(jmp_near) do(jmp_chain) do(jmp_register) do(jmp_memory) do(jmp_sib) do(call) do(call_register) do(call_memory) do( \
      call_nested) do(call_stack_memory) do(return_immediate) do(push_return) do(unmatched_return) do(call_pop) do(loop_taken) do(jrcxz_not_taken) do(both_ways) do(nops)

TRANSFER(none, "")
TRANSFER(nops, "nop\n .byte 0x66, 0x90\n .byte 0x0f,0x1f,0x84,0,0,0,0,0\n endbr64\n pause\n")
TRANSFER(jmp_forward, "jmp 95f\n ud2\n")
TRANSFER(jmp_backward, "jmp 92f\n 91: jmp 95f\n ud2\n 92: jmp 91b\n ud2\n")
TRANSFER(jmp_near, ".byte 0xe9\n .long 92f - 91f\n 91: ud2\n .fill 300, 1, 0xcc\n 92: jmp 95f\n")
TRANSFER(jmp_chain, "jmp 91f\n 92: jmp 93f\n 94: jmp 95f\n 91: jmp 92b\n 93: jmp 94b\n")
// The jump's register keeps its value for the comparison: it is exchanged through memory around the jump.
TRANSFER(jmp_register,
         "mov %r11, pointer_save(%rip)\n mov pointer_jmp_register(%rip), %r11\n jmp *%r11\n ud2\n"
         "95: mov pointer_save(%rip), %r11\n jmp 96f\n 96:\n")
TRANSFER(jmp_memory, "jmp *pointer_jmp_memory(%rip)\n ud2\n")
TRANSFER(jmp_sib,
         "mov %rcx, pointer_save(%rip)\n mov %rax, pointer_save2(%rip)\n lea pointer_jmp_sib(%rip), %rax\n "
         "mov $0, %ecx\n"
         "jmp *(%rax,%rcx,8)\n ud2\n 95: mov pointer_save(%rip), %rcx\n mov pointer_save2(%rip), %rax\n")
// Calls use the red zone's top slot for the return address; the last slot is restored for the sum's sake.
TRANSFER(call, "call 91f\n jmp 92f\n 91: ret\n 92:\n")
TRANSFER(call_register,
         "mov %rcx, pointer_save(%rip)\n lea 91f(%rip), %rcx\n call *%rcx\n mov pointer_save(%rip), %rcx\n "
         "jmp 92f\n"
         "91: ret\n 92:\n")
TRANSFER(call_memory,
         "mov %rdx, pointer_save(%rip)\n lea 91f(%rip), %rdx\n mov %rdx, pointer_call_memory(%rip)\n"
         "mov pointer_save(%rip), %rdx\n call *pointer_call_memory(%rip)\n jmp 92f\n 91: ret\n 92:\n")
TRANSFER(call_nested,
         "lea -1024(%rsp), %rsp\n call 91f\n jmp 94f\n 91: call 92f\n ret\n 92: call 93f\n call 93f\n ret\n "
         "93: ret\n"
         "94: lea 1024(%rsp), %rsp\n")
TRANSFER(call_stack_memory,
         "lea -1024(%rsp), %rsp\n mov %rdx, pointer_save(%rip)\n lea 91f(%rip), %rdx\n mov %rdx, 8(%rsp)\n"
         "mov pointer_save(%rip), %rdx\n call *8(%rsp)\n jmp 92f\n 91: ret\n 92: lea 1024(%rsp), %rsp\n")
TRANSFER(return_immediate,
         "lea -1024(%rsp), %rsp\n call 91f\n jmp 92f\n 91: ret $64\n 92: lea 960(%rsp), %rsp\n")
TRANSFER(push_return,
         "lea -1024(%rsp), %rsp\n pushq pointer_push_return(%rip)\n ret\n ud2\n 95: lea 1024(%rsp), %rsp\n")
TRANSFER(unmatched_return,
         "lea -1024(%rsp), %rsp\n call 91f\n ud2\n 91: mov %rax, pointer_save(%rip)\n lea 92f(%rip), %rax\n"
         "mov %rax, (%rsp)\n mov pointer_save(%rip), %rax\n ret\n ud2\n 92: lea 1024(%rsp), %rsp\n")
TRANSFER(call_pop, "lea -1024(%rsp), %rsp\n call 91f\n 91: lea 1032(%rsp), %rsp\n")
TRANSFER(loop_taken,
         "mov %rcx, pointer_save(%rip)\n mov $5, %ecx\n 91: loop 91b\n mov pointer_save(%rip), %rcx\n")
TRANSFER(jrcxz_not_taken, "jrcxz 91f\n jmp 92f\n 91: ud2\n 92:\n")
// Every condition, whichever way it goes.
TRANSFER(
    both_ways,
    "jo 91f\n 91: jc 91f\n 91: jz 91f\n 91: jbe 91f\n 91: js 91f\n 91: jp 91f\n 91: jl 91f\n 91: jle 91f\n"
    "91: jz 91f\n jmp 92f\n 91: jmp 92f\n 92: jc 93f\n 93:\n")

uint64_t pointer_save, pointer_save2;

int main(void) {
#define ENTRY(name) {#name, stub_##name},
  static const struct {
    const char* name;
    void (*run)(void);
  } kTransfers[] = {NAMES(ENTRY)};
  int runs = 0;
  for (size_t t = 0; t < sizeof kTransfers / sizeof kTransfers[0]; t++) {
    int bad = 0;
    for (unsigned pattern = 0; pattern < 128; pattern++) {
      for (int i = 0; i < 16; i++)
        before.gpr[i] = 0x1111111111111111u * (unsigned)i + pattern * 0x100000001u + 1;
      before.flags = 0x202 | (pattern & 1) | (pattern & 2 ? 4 : 0) | (pattern & 4 ? 16 : 0) |
                     (pattern & 8 ? 64 : 0) | (pattern & 16 ? 128 : 0) | (pattern & 32 ? 2048 : 0) |
                     (pattern & 64 ? 1024 : 0);
      memset(&after, 0, sizeof after);
      kTransfers[t].run();
      for (int i = 0; i < 16; i++) {
        if (i != 4 && after.gpr[i] != before.gpr[i]) bad++;
      }
      if (after.flags != before.flags) bad++;
      if (rsp_difference != 4096) bad++;
      if (red_zone_sum != (uint64_t)(-2 - 3 - 8 - 16)) bad++;
      if (bad == 1)
        printf("%s: first difference at pattern %u, flags %lx\n", kTransfers[t].name, pattern, after.flags);
      runs++;
    }
    printf("%s: %d differences\n", kTransfers[t].name, bad);
    EXPECT_EQ(bad, 0);
  }
  printf("%d runs\n", runs);
  return guest_result();
}
