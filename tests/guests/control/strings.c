// String instructions: every size, forwards and backwards, repeated zero, one and many times, overlapping,
// with 32-bit addresses, and the direction flag kept across calls and jumps.
#include "guest.h"

static unsigned char from[4096], to[4096];

static void fill(void) {
  for (size_t i = 0; i < sizeof from; i++) from[i] = (unsigned char)(i * 7 + 3);
  memset(to, 0, sizeof to);
}

#define MOVE(suffix, size)                                                                                  \
  do {                                                                                                      \
    for (unsigned long n = 0; n < 20; n++) {                                                                \
      fill();                                                                                               \
      const unsigned char* si = from + 64;                                                                  \
      unsigned char* di = to + 64;                                                                          \
      unsigned long cx = n;                                                                                 \
      __asm__ volatile("rep movs" suffix : "+S"(si), "+D"(di), "+c"(cx) : : "memory");                      \
      EXPECT_EQ(si - from, 64 + (long)(n * size));                                                          \
      EXPECT_EQ(di - to, 64 + (long)(n * size));                                                            \
      EXPECT_EQ(cx, 0);                                                                                     \
      EXPECT(memcmp(from + 64, to + 64, n * size) == 0);                                                    \
      EXPECT_EQ(to[64 + n * size], 0);                                                                      \
      fill();                                                                                               \
      si = from + 2000, di = to + 2000, cx = n;                                                             \
      __asm__ volatile("std\n rep movs" suffix "\n cld" : "+S"(si), "+D"(di), "+c"(cx) : : "memory", "cc"); \
      EXPECT_EQ(si - from, 2000 - (long)(n * size));                                                        \
      EXPECT_EQ(cx, 0);                                                                                     \
      EXPECT(n == 0 || memcmp(from + 2000 - (n - 1) * size, to + 2000 - (n - 1) * size, n * size) == 0);    \
      di = to + 100, cx = n;                                                                                \
      __asm__ volatile("rep stos" suffix : "+D"(di), "+c"(cx) : "a"(0x1122334455667788) : "memory");        \
      EXPECT_EQ(di - to, 100 + (long)(n * size));                                                           \
      EXPECT(n == 0 || to[100] == 0x88);                                                                    \
    }                                                                                                       \
  } while (0)

int main(void) {
  MOVE("b", 1);
  MOVE("w", 2);
  MOVE("l", 4);
  MOVE("q", 8);

  // An overlapping forward copy spreads its first bytes.
  fill();
  unsigned char* si = from;
  unsigned char* di = from + 3;
  unsigned long cx = 300;
  __asm__ volatile("rep movsb" : "+S"(si), "+D"(di), "+c"(cx) : : "memory");
  for (int i = 0; i < 303; i++) EXPECT_EQ(from[i], (unsigned char)((i % 3) * 7 + 3));

  // scas and cmps stop where they should.
  static const char kText[] = "the quick brown fox jumps over the lazy dog";
  const char* at = kText;
  cx = sizeof kText;
  __asm__ volatile("repne scasb" : "+D"(at), "+c"(cx) : "a"('q') : "cc");
  printf("found at %ld, %lu left\n", (long)(at - kText - 1), cx);
  static const char kOther[] = "the quick brown cat jumps";
  const char* a = kText;
  const char* b = kOther;
  cx = sizeof kOther;
  unsigned char below;
  __asm__ volatile("repe cmpsb\n setb %3" : "+S"(a), "+D"(b), "+c"(cx), "=q"(below) : : "cc");
  printf("differ at %ld, below %d\n", (long)(a - kText - 1), below);
  unsigned long sum = 0, value;
  const char* cursor = kText;
  for (size_t i = 0; i < sizeof kText - 1; i++) {
    __asm__ volatile("xor %%eax, %%eax\n lodsb" : "+S"(cursor), "=a"(value) : : "cc");
    sum = sum * 31 + value;
  }
  printf("sum %lx\n", sum);

  // Unrepeated forms and a zero count with a bad pointer.
  unsigned char byte = 9, copy = 0;
  unsigned char *from_byte = &byte, *to_byte = &copy;
  __asm__ volatile("movsb" : "+S"(from_byte), "+D"(to_byte) : : "memory");
  EXPECT_EQ(copy, 9);
  void *nowhere = (void*)16, *nowhere_else = (void*)32;
  cx = 0;
  __asm__ volatile("rep movsq\n repe cmpsb\n repne scasw\n rep stosl\n rep lodsb"
                   : "+S"(nowhere), "+D"(nowhere_else), "+c"(cx)
                   :
                   : "memory", "cc", "rax");
  EXPECT(nowhere == (void*)16 && nowhere_else == (void*)32);

  // The direction flag across call, ret, jumps and a system call.
  unsigned long flags;
  di = to + 500;
  __asm__ volatile(
      "sub $128, %%rsp\n std\n call 1f\n jmp 2f\n 1: ret\n 2: mov $39, %%eax\n syscall\n lea 3f(%%rip), "
      "%%rax\n jmp *%%rax\n"
      "3: mov $0xee, %%al\n stosb\n stosb\n pushfq\n pop %1\n cld\n add $128, %%rsp\n"
      : "+D"(di), "=&r"(flags)
      :
      : "rax", "rcx", "r11", "memory", "cc");
  EXPECT_EQ(di - to, 498);
  EXPECT(flags & 0x400);
  EXPECT(to[500] == 0xee && to[499] == 0xee);
  return guest_result();
}
