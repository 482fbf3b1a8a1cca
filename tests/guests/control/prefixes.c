// Instructions with many prefixes, long nops, instructions of exactly 15 bytes; one of 16 bytes is refused by
// the cpu.
#include <setjmp.h>
#include <signal.h>

#include "guest.h"

static sigjmp_buf back;
static void on_fault(int number) { siglongjmp(back, number); }

int main(void) {
  long a = 5, b = 7;
  __asm__ volatile(
      ".byte 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00\n"  // nop, 15 bytes
      ".byte 0x66, 0x90\n .byte 0x0f, 0x1f, 0x00\n .byte 0x0f, 0x1f, 0x40, 0x00\n .byte 0x0f, 0x1f, 0x44, "
      "0x00, 0x00\n"
      ".byte 0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00\n .byte 0x0f, 0x1f, 0x80, 0, 0, 0, 0\n"
      ".byte 0x87, 0xdb\n"                    // xchg %ebx, %ebx
      ".byte 0xf3, 0x0f, 0x1e, 0xfa\n"        // endbr64
      ".byte 0xf3, 0x48, 0x0f, 0x1e, 0xc8\n"  // rdsspq %rax: a nop without shadow stacks
      ".byte 0x0f, 0x18, 0x0e\n"              // prefetcht0
      ".byte 0xf3, 0x90\n"
      ".byte 0x2e, 0x36, 0x3e, 0x26, 0x64, 0x65, 0x48, 0x01, 0xd8\n"  // add %rbx, %rax with segment prefixes
      ".byte 0x40, 0x48, 0x01, 0xd8\n"  // an ignored REX in front of the real one
      : "+a"(a), "+b"(b)
      :
      : "cc");
  printf("%ld %ld\n", a, b);
  EXPECT_EQ(a, 5 + 7 + 7);
  // add $0x11223344, 0x0(%rbx,%rcx,8) padded to 15 bytes.
  long value = 0;
  __asm__ volatile(".byte 0x2e, 0x2e, 0x3e, 0x48, 0x81, 0x84, 0xcb, 0, 0, 0, 0, 0x44, 0x33, 0x22, 0x11\n"
                   : "+m"(value)
                   : "b"(&value), "c"(0L)
                   : "cc");
  EXPECT_EQ(value, 0x11223344);
  signal(SIGSEGV, on_fault);
  if (sigsetjmp(back, 1) == 0) {
    __asm__ volatile(".fill 14, 1, 0x66\n .byte 0x0f, 0x1f, 0x00\n" : : : "memory");
    EXPECT(!"a 17-byte instruction ran");
  } else {
    printf("too long: refused\n");
  }
  return guest_result();
}
