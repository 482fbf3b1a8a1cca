// fnstenv, fnsave, fxsave and xsave store the pc of the last x87 instruction; whatever they show lies in the
// program, and the old trick to learn the own pc by fnstenv works.
#include <cpuid.h>

#include "guest.h"

extern const char x87_here[];
int main(void);

static int in_program(uint64_t address) {
  // Within some megabytes of this program's code, and not in anything mapped elsewhere.
  return address >= (uint64_t)main - (1 << 20) && address < (uint64_t)main + (1 << 20);
}
int main(void) {
  static unsigned char image[4096] __attribute__((aligned(64)));
  uint32_t ip32;
  unsigned eax, ebx, ecx, edx;
  __cpuid_count(7, 0, eax, ebx, ecx, edx);
  int data_on_exceptions_only = ebx >> 6 & 1;
  for (int i = 0; i < 50; i++) {
    memset(image, 0, sizeof image);
    __asm__ volatile(
        ".globl x87_here\n x87_here: fldpi\n nop\n nop\n fnstenv (%0)\n fstp %%st(0)\n fldcw (%0)\n"
        :
        : "r"(image)
        : "memory");
    memcpy(&ip32, image + 12, 4);
    EXPECT(ip32 == (uint32_t)(uintptr_t)x87_here);

    memset(image, 0, sizeof image);
    uint64_t here;
    __asm__ volatile(
        "sub $128, %%rsp\n 1: fld1\n lea 1b(%%rip), %0\n call 3f\n jmp 2f\n 3: ret\n"
        "2: fxsave64 (%1)\n fstp %%st(0)\n add $128, %%rsp\n"
        : "=&r"(here)
        : "r"(image)
        : "memory", "cc");
    uint64_t ip;
    memcpy(&ip, image + 8, 8);
    EXPECT(ip == here);
    EXPECT(in_program(ip));

    memset(image, 0, sizeof image);
    __asm__ volatile(
        "1: fldl2e\n lea 1b(%%rip), %0\n mov $7, %%eax\n xor %%edx, %%edx\n xsave64 (%1)\n fstp %%st(0)\n"
        : "=&r"(here)
        : "r"(image)
        : "rax", "rdx", "memory");
    memcpy(&ip, image + 8, 8);
    EXPECT(ip == here);

    // A memory operand sets the data pointer as well, which is the program's own.
    static double number = 1.5;
    memset(image, 0, sizeof image);
    __asm__ volatile("fldl %1\n fxsave64 (%0)\n fstp %%st(0)\n" : : "r"(image), "m"(number) : "memory");
    uint64_t data;
    memcpy(&ip, image + 8, 8);
    memcpy(&data, image + 16, 8);
    EXPECT(in_program(ip));
    // Newer processors store the data pointer after unmasked exceptions only.
    if (!data_on_exceptions_only) EXPECT(data == (uint64_t)&number);
    EXPECT(data == 0 || data == (uint64_t)&number);

    memset(image, 0, sizeof image);
    __asm__ volatile("1: fldln2\n lea 1b(%%rip), %0\n fnsave (%1)\n" : "=&r"(here) : "r"(image) : "memory");
    memcpy(&ip32, image + 12, 4);
    EXPECT(ip32 == (uint32_t)here);
    __asm__ volatile("fninit");
  }
  printf("own addresses only\n");
  return guest_result();
}
