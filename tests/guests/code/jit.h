// A few machine instructions as bytes, for the guests that make code.
#pragma once

#include <sys/mman.h>

#include "guest.h"

typedef int (*Code)(int);

enum {
  kPage = 4096,
  kReadWrite = PROT_READ | PROT_WRITE,
  kReadExecute = PROT_READ | PROT_EXEC,
  kAll = 7,
  kAnonymous = MAP_PRIVATE | MAP_ANONYMOUS
};

static inline unsigned char* emit_bytes(unsigned char* at, const void* bytes, size_t count) {
  memcpy(at, bytes, count);
  return at + count;
}
static inline unsigned char* emit32(unsigned char* at, int32_t value) { return emit_bytes(at, &value, 4); }
static inline unsigned char* emit64(unsigned char* at, int64_t value) { return emit_bytes(at, &value, 8); }

/// mov $value, %eax
static inline unsigned char* emit_mov_eax(unsigned char* at, int32_t value) {
  *at++ = 0xb8;
  return emit32(at, value);
}
/// lea value(%rdi), %eax
static inline unsigned char* emit_lea(unsigned char* at, int32_t value) {
  at = emit_bytes(at, "\x8d\x87", 2);
  return emit32(at, value);
}
/// add $value, %eax
static inline unsigned char* emit_add(unsigned char* at, int32_t value) {
  *at++ = 0x05;
  return emit32(at, value);
}
static inline unsigned char* emit_ret(unsigned char* at) {
  *at++ = 0xc3;
  return at;
}
/// call or jmp to an address within reach
static inline unsigned char* emit_branch(unsigned char* at, unsigned char opcode, const void* target) {
  *at++ = opcode;
  return emit32(at, (int32_t)((const unsigned char*)target - (at + 4)));
}
static inline unsigned char* emit_call(unsigned char* at, const void* target) {
  return emit_branch(at, 0xe8, target);
}
static inline unsigned char* emit_jmp(unsigned char* at, const void* target) {
  return emit_branch(at, 0xe9, target);
}
/// movabs $target, %rax; call *%rax
static inline unsigned char* emit_far_call(unsigned char* at, const void* target) {
  at = emit_bytes(at, "\x48\xb8", 2);
  at = emit64(at, (int64_t)target);
  return emit_bytes(at, "\xff\xd0", 2);
}

static inline unsigned char* map_code(size_t size, int protection) {
  unsigned char* area = mmap(NULL, size, protection, kAnonymous, -1, 0);
  REQUIRE(area != MAP_FAILED);
  return area;
}
