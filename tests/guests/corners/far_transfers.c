// Far transfers within user code: retf, far jmp and call through memory, iretq; they go where they say, with
// the flags and the stack they say.
#include "guest.h"

int main(void) {
  uint64_t reached = 0, rsp_delta, flags;
  static unsigned char pointer[10];
  for (int i = 0; i < 100; i++) {
    // lretq to our own code segment.
    __asm__ volatile(
        "sub $128, %%rsp\n mov %%rsp, %%rbx\n mov %%cs, %%ecx\n push %%rcx\n lea 1f(%%rip), %%rax\n push "
        "%%rax\n lretq\n ud2\n"
        "1: add $1, %0\n sub %%rsp, %%rbx\n mov %%rbx, %1\n add $128, %%rsp\n"
        : "+&r"(reached), "=&r"(rsp_delta)
        :
        : "rax", "rbx", "rcx", "memory", "cc");
    EXPECT_EQ(rsp_delta, 0);
    // With an immediate.
    __asm__ volatile(
        "sub $256, %%rsp\n mov %%rsp, %%rbx\n sub $32, %%rsp\n mov %%cs, %%ecx\n push %%rcx\n lea 1f(%%rip), "
        "%%rax\n push %%rax\n"
        "lretq $32\n ud2\n"
        "1: add $10, %0\n sub %%rsp, %%rbx\n mov %%rbx, %1\n add $256, %%rsp\n"
        : "+&r"(reached), "=&r"(rsp_delta)
        :
        : "rax", "rbx", "rcx", "memory", "cc");
    EXPECT_EQ(rsp_delta, 0);
    // ljmp through memory, 64-bit offset.
    __asm__ volatile(
        "lea 1f(%%rip), %%rax\n mov %%rax, (%1)\n mov %%cs, %%ecx\n mov %%cx, 8(%1)\n rex.w ljmp *(%1)\n "
        "ud2\n"
        "1: add $100, %0\n"
        : "+&r"(reached)
        : "r"(pointer)
        : "rax", "rcx", "memory", "cc");
    // lcall and lretq back.
    __asm__ volatile(
        "sub $128, %%rsp\n lea 1f(%%rip), %%rax\n mov %%rax, (%1)\n mov %%cs, %%ecx\n mov %%cx, 8(%1)\n "
        "rex.w lcall *(%1)\n"
        "jmp 2f\n 1: add $1000, %0\n lretq\n 2: add $10000, %0\n add $128, %%rsp\n"
        : "+&r"(reached)
        : "r"(pointer)
        : "rax", "rcx", "memory", "cc");
    // iretq: pc, flags and stack at once.
    __asm__ volatile(
        "mov %%rsp, %%rbx\n sub $256, %%rsp\n mov %%ss, %%ecx\n push %%rcx\n push %%rbx\n push $0xad7\n mov "
        "%%cs, %%ecx\n push %%rcx\n"
        "lea 1f(%%rip), %%rax\n push %%rax\n iretq\n ud2\n"
        "1: pushfq\n pop %2\n lea 100000(%0), %0\n sub %%rsp, %%rbx\n mov %%rbx, %1\n cld\n"
        : "+&r"(reached), "=&r"(rsp_delta), "=&r"(flags)
        :
        : "rax", "rbx", "rcx", "memory", "cc");
    EXPECT_EQ(rsp_delta, 0);
    EXPECT_EQ(flags & 0xcd5, 0xad7 & 0xcd5);
  }
  printf("%lu\n", reached);
  EXPECT_EQ(reached, 111111u * 100);
  return guest_result();
}
