// Absolute addresses inside code: the loader makes the text writable, patches it and makes it executable
// again.
#include "guest.h"

static int target = 4711;
int* address_in_code(void);
__asm__(
    ".text\n.globl address_in_code\n.type address_in_code,@function\naddress_in_code:\n"
    "  movabs $target, %rax\n  ret\n");

int main(void) {
  __asm__ volatile("" : : "r"(&target));
  EXPECT(address_in_code() == &target);
  printf("%d\n", *address_in_code());
  return guest_result();
}
