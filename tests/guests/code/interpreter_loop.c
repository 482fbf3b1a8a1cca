// An interpreter whose instructions are generated code that ends in an indirect jump to the next one, as
// managed runtimes have it: hundreds of thousands of jumps through a table, in low and in high memory, with a
// call back into C in between.
#include "code/jit.h"

static long calls;
static void from_interpreter(void) { calls++; }

// r12: program counter (bytes), r13: table of instruction addresses, rax: accumulator.
static unsigned char* next(unsigned char* at) {
  // movzbl (%r12), %ecx; inc %r12; jmp *(%r13,%rcx,8)
  return emit_bytes(at, "\x41\x0f\xb6\x0c\x24\x49\xff\xc4\x41\xff\x64\xcd\x00", 13);
}

static void exercise(const char* what, unsigned char* area) {
  void** table = (void**)area;
  unsigned char* at = area + 256;
  // 0: add $1, %rax
  table[0] = at;
  at = next(emit_bytes(at, "\x48\x83\xc0\x01", 4));
  // 1: lea (%rax,%rax,2), %rax; and $0xffffff, %eax
  table[1] = at;
  at = next(emit_bytes(at, "\x48\x8d\x04\x40\x25\xff\xff\xff\x00", 9));
  // 2: call back: push %rax; sub $8, %rsp; movabs; call *%rax; add $8, %rsp; pop %rax
  table[2] = at;
  at = emit_bytes(at, "\x50", 1);
  at = emit_far_call(at, (void*)from_interpreter);
  at = next(emit_bytes(at, "\x58", 1));
  // 3: xor $0x55, %rax
  table[3] = at;
  at = next(emit_bytes(at, "\x48\x83\xf0\x55", 4));
  // 4: dec %rbx; jz done; mov %r14, %r12 (back to the program's start)
  table[4] = at;
  at = emit_bytes(at, "\x48\xff\xcb\x74\x10\x4d\x89\xf4", 8);
  at = next(at);
  // done (16 bytes behind the jz): pops and ret
  unsigned char* done = (unsigned char*)table[4] + 3 + 2 + 16;
  at = emit_bytes(done, "\x41\x5e\x41\x5d\x41\x5c\x5b\xc3", 8);
  // entry(program, rounds): push rbx, r12, r13, r14; the stack is then 8 off alignment, as 2 expects before
  // its push
  unsigned char* entry = at + 16;
  at = emit_bytes(entry, "\x53\x41\x54\x41\x55\x41\x56\x49\x89\xfc\x49\x89\xfe\x48\x89\xf3\x31\xc0\x49\xbd",
                  20);
  at = emit64(at, (int64_t)table);
  next(at);
  static const unsigned char kProgram[] = {0, 1, 3, 0, 0, 2, 1, 3, 1, 4};
  calls = 0;
  long result = ((long (*)(const unsigned char*, long))entry)(kProgram, 30000);
  printf("%s: %ld after %ld calls\n", what, result, calls);
  EXPECT_EQ(calls, 30000);
  long expected = 0;
  for (int i = 0; i < 30000; i++) {
    for (int k = 0; k < 9; k++) {
      if (kProgram[k] == 0) expected++;
      if (kProgram[k] == 1) expected = expected * 3 & 0xffffff;
      if (kProgram[k] == 3) expected ^= 0x55;
    }
  }
  EXPECT_EQ(result, expected);
}

int main(void) {
  exercise("anywhere", map_code(kPage, kAll));
  unsigned char* low = mmap(NULL, kPage, kAll, kAnonymous | MAP_32BIT, -1, 0);
  REQUIRE(low != MAP_FAILED);
  exercise("low", low);
  unsigned char* high = mmap((void*)0x220000000000, kPage, kAll, kAnonymous | MAP_FIXED_NOREPLACE, -1, 0);
  REQUIRE(high == (unsigned char*)0x220000000000);
  exercise("high", high);
  return guest_result();
}
