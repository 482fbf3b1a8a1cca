// Calls whose target is the next instruction (the old way to learn the pc), whose return address is popped,
// moved, compared or jumped to, never returned to.
#include "guest.h"

int main(void) {
  uint64_t popped, label;
  __asm__ volatile(
      "sub $128, %%rsp\n"
      "call 1f\n"
      "1: pop %0\n"
      "lea 1b(%%rip), %1\n"
      "add $128, %%rsp\n"
      : "=&r"(popped), "=&r"(label)
      :
      : "memory", "cc");
  EXPECT(popped == label);

  // The same with the register the engine may want for itself, many times.
  uint64_t differences = 0;
  for (int i = 0; i < 20000; i++) {
    uint64_t got, want;
    __asm__ volatile(
        "sub $128, %%rsp\n"
        "call 1f\n"
        "1: pop %%rcx\n"
        "lea 1b(%%rip), %%rax\n"
        "add $128, %%rsp\n"
        : "=c"(got), "=a"(want)
        :
        : "memory", "cc");
    differences += got != want;
  }
  EXPECT_EQ(differences, 0);

  // Jump over data that the call's return address points to.
  const char* text;
  __asm__ volatile(
      "sub $128, %%rsp\n"
      "call 2f\n"
      "1: .asciz \"data behind a call\"\n"
      "2: pop %0\n"
      "add $128, %%rsp\n"
      : "=r"(text)
      :
      : "memory", "cc");
  printf("%s\n", text);

  // Pop the return address and jump to it.
  int reached;
  __asm__ volatile(
      "sub $128, %%rsp\n"
      "xor %0, %0\n"
      "call 2f\n"
      "inc %0\n"
      "jmp 3f\n"
      "2: pop %%rdx\n"
      "add $10, %0\n"
      "jmp *%%rdx\n"
      "3: add $128, %%rsp\n"
      : "=&r"(reached)
      :
      : "rdx", "memory", "cc");
  EXPECT_EQ(reached, 11);

  // The return address is readable in the callee's frame and is the guest's own.
  uint64_t slot, behind;
  __asm__ volatile(
      "sub $128, %%rsp\n"
      "call 2f\n"
      "1: jmp 3f\n"
      "2: mov (%%rsp), %0\n"
      "ret\n"
      "3: lea 1b(%%rip), %1\n"
      "add $128, %%rsp\n"
      : "=&r"(slot), "=&r"(behind)
      :
      : "memory", "cc");
  EXPECT(slot == behind);

  // Below rsp the returned-from slot still holds the return address.
  __asm__ volatile(
      "sub $128, %%rsp\n"
      "call 2f\n"
      "1: jmp 3f\n"
      "2: ret\n"
      "3: mov -8(%%rsp), %0\n"
      "lea 1b(%%rip), %1\n"
      "add $128, %%rsp\n"
      : "=&r"(slot), "=&r"(behind)
      :
      : "memory", "cc");
  EXPECT(slot == behind);
  return guest_result();
}
