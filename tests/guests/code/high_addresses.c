// Generated code at addresses of all kinds: wherever mmap gives, at fixed places above 4 GiB, above 32 TiB,
// near the end of the address space, across the 2 GiB line; with rip-relative operands, near calls, returns,
// jump tables, calls into libc.
#include <signal.h>
#include <ucontext.h>

#include "code/jit.h"

static int traps;
static uintptr_t trap_pc, trap_return;
static void on_trap(int number, siginfo_t* info, void* context) {
  (void)number;
  (void)info;
  greg_t* registers = ((ucontext_t*)context)->uc_mcontext.gregs;
  traps++;
  trap_pc = (uintptr_t)registers[REG_RIP];
  trap_return = *(uintptr_t*)registers[REG_RSP];
}

static void exercise(const char* what, unsigned char* area, int write_first) {
  // Data at area, code behind it.
  memcpy(area, "\x07\x00\x00\x00", 4);  // an addend
  unsigned char* table = area + 64;
  unsigned char* at = area + 256;
  // leaf: lea 1(%rdi), %eax; add addend(%rip), %eax; ret
  unsigned char* leaf = at;
  at = emit_lea(at, 1);
  at = emit_bytes(at, "\x03\x05", 2);
  at = emit32(at, (int32_t)(area - (at + 4)));
  at = emit_ret(at);
  // caller: call leaf; call *pointer(%rip); mov %eax, result(%rip); incl counter(%rip); ret
  unsigned char* caller = at;
  at = emit_bytes(at, "\x48\x83\xec\x08", 4);
  at = emit_call(at, leaf);
  at = emit_bytes(at, "\x89\xc7\xff\x15", 4);  // mov %eax, %edi; call *pointer(%rip)
  at = emit32(at, (int32_t)(area + 16 - (at + 4)));
  at = emit_bytes(at, "\x89\x05", 2);
  at = emit32(at, (int32_t)(area + 8 - (at + 4)));
  at = emit_bytes(at, "\xff\x05", 2);
  at = emit32(at, (int32_t)(area + 12 - (at + 4)));
  at = emit_bytes(at, "\x48\x83\xc4\x08", 4);
  at = emit_ret(at);
  emit64(area + 16, (int64_t)leaf);
  // switch: jmp *table(,%rdi,8) by lea table(%rip), %rax; jmp *(%rax,%rdi,8)
  unsigned char* jump = at;
  at = emit_bytes(at, "\x48\x8d\x05", 3);
  at = emit32(at, (int32_t)(table - (at + 4)));
  at = emit_bytes(at, "\xff\x24\xf8", 3);
  for (int i = 0; i < 4; i++) {
    emit64(table + 8 * i, (int64_t)at);
    at = emit_ret(emit_mov_eax(at, 100 * i));
  }
  // libc: strlen through a far call, with a rip-relative string; the stack aligned.
  unsigned char* library = at;
  at = emit_bytes(at, "\x48\x83\xec\x08\x48\x8d\x3d", 7);
  at = emit32(at, (int32_t)(area + 128 - (at + 4)));
  at = emit_far_call(at, (void*)strlen);
  at = emit_bytes(at, "\x48\x83\xc4\x08", 4);
  at = emit_ret(at);
  strcpy((char*)area + 128, "nine char");
  // pc: call next; pop %rax; sub own address: rip arithmetic; returns the low 32 bits of pc - area.
  unsigned char* pc = at;
  at = emit_call(at, at + 5);
  unsigned char* next = at;
  at = emit_bytes(at, "\x58\x48\x8d\x15", 4);  // pop %rax; lea area(%rip), %rdx
  at = emit32(at, (int32_t)(area - (at + 4)));
  at = emit_bytes(at, "\x48\x29\xd0", 3);  // sub %rdx, %rax
  at = emit_ret(at);
  // trap: call inner; ret;  inner: int3; ret
  unsigned char* trap = at;
  at = emit_call(at, at + 6);
  unsigned char* behind = at;
  at = emit_ret(at);
  unsigned char* breakpoint = at;
  *at++ = 0xcc;
  at = emit_ret(at);
  // loop: mov %edi, %ecx; xor %eax, %eax; 1: add addend(%rip), %eax; dec %ecx; jnz 1b; ret
  unsigned char* loop = at;
  at = emit_bytes(at, "\x89\xf9\x31\xc0", 4);
  unsigned char* head = at;
  at = emit_bytes(at, "\x03\x05", 2);
  at = emit32(at, (int32_t)(area - (at + 4)));
  at = emit_bytes(at, "\xff\xc9\x75", 3);
  *at = (unsigned char)(head - (at + 1));
  at++;
  at = emit_ret(at);
  if (write_first) REQUIRE(mprotect((void*)((uintptr_t)area & ~4095ul), 2 * kPage, kAll) == 0);

  for (int i = 0; i < 300; i++) {
    EXPECT_EQ(((Code)leaf)(i), i + 8);
    EXPECT_EQ(((Code)caller)(i), i + 16);
    EXPECT_EQ(((Code)jump)(i % 4), i % 4 * 100);
    EXPECT_EQ(((Code)library)(0), 9);
    EXPECT_EQ(((Code)pc)(0), next - area);
    EXPECT_EQ(((Code)loop)(i + 1), (i + 1) * 7);
  }
  int result, counter;
  memcpy(&result, area + 8, 4);
  memcpy(&counter, area + 12, 4);
  EXPECT_EQ(result, 299 + 16);
  EXPECT_EQ(counter, 300);
  traps = 0;
  ((Code)trap)(0);
  EXPECT_EQ(traps, 1);
  EXPECT(trap_pc == (uintptr_t)breakpoint + 1);
  EXPECT(trap_return == (uintptr_t)behind);
  // Changed after it ran.
  memcpy(area, "\x09\x00\x00\x00", 4);
  EXPECT_EQ(((Code)leaf)(1), 11);
  emit32(leaf + 2, 1000);
  EXPECT_EQ(((Code)leaf)(1), 1010);
  EXPECT_EQ(((Code)caller)(1), 1010 + 1009);
  printf("%s: done\n", what);
}

static unsigned char* fixed(uintptr_t address, int protection) {
  unsigned char* area = mmap((void*)address, 2 * kPage, protection, kAnonymous | MAP_FIXED_NOREPLACE, -1, 0);
  REQUIRE(area == (unsigned char*)address);
  return area;
}

int main(void) {
  struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
  REQUIRE(sigaction(SIGTRAP, &action, NULL) == 0);
  exercise("anywhere", map_code(2 * kPage, kAll), 0);
  exercise("anywhere, protected later", map_code(2 * kPage, kReadWrite), 1);
  unsigned char* low = mmap(NULL, 2 * kPage, kAll, kAnonymous | MAP_32BIT, -1, 0);
  REQUIRE(low != MAP_FAILED);
  exercise("low", low, 0);
  exercise("4 GiB", fixed(0x100000000, kAll), 0);
  exercise("over 4 GiB", fixed(0x123456000, kReadWrite), 1);
  exercise("32 TiB", fixed(0x200000000000, kAll), 0);
  exercise("32 TiB, protected later", fixed(0x200000010000, kReadWrite), 1);
  exercise("112 TiB", fixed(0x700000000000, kAll), 0);
  exercise("negative as 32 bits", fixed(0x9ff00000, kAll), 0);
  // An area whose code begins below the 2 GiB line and ends above it.
  unsigned char* line = mmap((void*)0x7ffff000, 2 * kPage, kAll, kAnonymous | MAP_FIXED_NOREPLACE, -1, 0);
  if (line == (unsigned char*)0x7ffff000) {
    exercise("across 2 GiB", line + kPage - 280, 0);
  } else {
    EXPECT(!"no place at 2 GiB");
  }
  // A heap turned executable.
  unsigned char* heap = malloc(5 * kPage);
  unsigned char* aligned = (unsigned char*)(((uintptr_t)heap + kPage - 1) & ~4095ul);
  exercise("heap", aligned, 1);
  static unsigned char data[4 * kPage];
  aligned = (unsigned char*)(((uintptr_t)data + kPage - 1) & ~4095ul);
  exercise("data segment", aligned, 1);
  return guest_result();
}
