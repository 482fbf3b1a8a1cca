// fxsave and xsave without REX.W store the lower half of the last x87 instruction's address. Behind it comes
// a code selector, or zero: never more of the address, wherever the code is.
#include <sys/mman.h>

#include "guest.h"

// fld1; fxsave (%rdi); fstp %st(0); ret
static const unsigned char kFxsave[] = {0xd9, 0xe8, 0x0f, 0xae, 0x07, 0xdd, 0xd8, 0xc3};
// mov $7, %eax; xor %edx, %edx; fld1; xsave (%rdi); fstp %st(0); ret
static const unsigned char kXsave[] = {0xb8, 7,    0,    0,    0,    0x31, 0xd2, 0xd9,
                                       0xe8, 0x0f, 0xae, 0x27, 0xdd, 0xd8, 0xc3};

static void expect_lower_half(char* at, const unsigned char* code, size_t size, unsigned fld1) {
  static unsigned char image[4096] __attribute__((aligned(64)));
  memcpy(at, code, size);
  for (int i = 0; i < 3; i++) {
    memset(image, 0, sizeof image);
    ((void (*)(void*))at)(image);
    uint32_t pointer, behind;
    memcpy(&pointer, image + 8, 4);
    memcpy(&behind, image + 12, 4);
    EXPECT(pointer == (uint32_t)(uintptr_t)at + fld1);
    EXPECT(behind == 0 || behind == 0x33);
  }
}

int main(void) {
  static const uintptr_t kPlaces[] = {0x230012340000, 0x230068340000, 0x41000000};
  for (int i = 0; i < 3; i++) {
    char* at = mmap((void*)kPlaces[i], 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    REQUIRE(at == (char*)kPlaces[i]);
    expect_lower_half(at, kFxsave, sizeof kFxsave, 0);
    expect_lower_half(at + 2048, kXsave, sizeof kXsave, 7);
  }
  printf("lower halves only\n");
  return guest_result();
}
