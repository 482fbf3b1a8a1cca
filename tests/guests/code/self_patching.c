// Code that changes itself or its neighbours: an immediate of another function, one of the same page, one of
// the same block, the very next instruction (with and without a serialising instruction between), the
// caller's code behind a call.
#include "code/jit.h"

int main(void) {
  unsigned char* page = map_code(2 * kPage, kAll);

  // A function on one page, changed from outside a thousand times.
  emit_ret(emit_mov_eax(page, 0));
  long sum = 0;
  for (int i = 0; i < 1000; i++) {
    emit32(page + 1, i);
    sum += ((Code)page)(0);
  }
  EXPECT_EQ(sum, 999 * 1000 / 2);

  // Code that patches the next page, then calls it: movl %edi, patch(%rip); call; ret.
  unsigned char* other = page + kPage + 100;
  emit_ret(emit_mov_eax(other, 0));
  unsigned char* writer = page + 512;
  unsigned char* at = emit_bytes(writer, "\x89\x3d", 2);
  at = emit32(at, (int32_t)(other + 1 - (at + 4)));
  at = emit_call(at, other);
  emit_ret(at);
  for (int i = 0; i < 1000; i++) EXPECT_EQ(((Code)writer)(i), i);

  // The same, patching a function on its own page.
  unsigned char* near = page + 1024;
  emit_ret(emit_mov_eax(near, 0));
  writer = page + 1100;
  at = emit_bytes(writer, "\x89\x3d", 2);
  at = emit32(at, (int32_t)(near + 1 - (at + 4)));
  at = emit_call(at, near);
  emit_ret(at);
  for (int i = 0; i < 1000; i++) EXPECT_EQ(((Code)writer)(i), i);

  // The very next instruction: movl %edi, next+1(%rip); next: mov $0, %eax; ret.
  writer = page + 2048;
  at = emit_bytes(writer, "\x89\x3d", 2);
  at = emit32(at, 1);
  emit_ret(emit_mov_eax(at, 0));
  for (int i = 0; i < 1000; i++) EXPECT_EQ(((Code)writer)(i), i);

  // With cpuid between (rbx kept in r8).
  writer = page + 2200;
  at = emit_bytes(writer, "\x49\x89\xd8\x89\x3d", 5);  // mov %rbx, %r8; movl %edi, patch(%rip)
  unsigned char* displacement = at;
  at = emit32(at, 0);
  at = emit_bytes(at, "\x31\xc0\x31\xc9\x0f\xa2\x4c\x89\xc3", 9);  // xor eax; xor ecx; cpuid; mov %r8, %rbx
  emit32(displacement, (int32_t)(at + 1 - (displacement + 4)));
  emit_ret(emit_mov_eax(at, 0));
  for (int i = 0; i < 1000; i++) EXPECT_EQ(((Code)writer)(i), i);

  // An instruction becomes another one: inc %eax (ff c0) turns into dec %eax (ff c8) inside a loop, at every
  // pass.
  //   xor %eax,%eax; mov $10,%ecx; 1: xorb $8, op+1(%rip); op: inc %eax; dec %ecx; jnz 1b; ret
  writer = page + 2400;
  at = emit_bytes(writer, "\x31\xc0\xb9\x0a\x00\x00\x00", 7);
  unsigned char* loop = at;
  at = emit_bytes(at, "\x80\x35", 2);
  at = emit32(at, 1);  // op+1 lies one byte behind this instruction's end
  *at++ = 8;
  at = emit_bytes(at, "\xff\xc0\xff\xc9\x75", 5);
  *at = (unsigned char)(loop - (at + 1));
  at++;
  emit_ret(at);
  for (int i = 0; i < 100; i++) EXPECT_EQ(((Code)writer)(0), 0);

  // The callee changes what its caller does when it returns: call f; mov $1, %eax; ret, where f stores edi
  // there.
  unsigned char* callee = page + 3000;
  unsigned char* caller = page + 3100;
  at = emit_bytes(callee, "\x48\x8b\x04\x24\x89\x78\x01", 7);  // mov (%rsp), %rax; mov %edi, 1(%rax)
  emit_ret(at);
  at = emit_call(caller, callee);
  emit_ret(emit_mov_eax(at, 1));
  for (int i = 0; i < 1000; i++) EXPECT_EQ(((Code)caller)(i), i);

  // A repeated store fills a stretch of code that then runs: 200 one-byte nops, one ret.
  unsigned char* filled = page + 3400;
  memset(filled, 0xcc, 300);
  __asm__ volatile("rep stosb" : : "D"(filled), "c"(200), "a"(0x90) : "memory");
  emit_ret(emit_lea(filled + 200, 5));
  EXPECT_EQ(((Code)filled)(7), 12);
  printf("%ld\n", sum);
  return guest_result();
}
