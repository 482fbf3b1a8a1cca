// fs and gs: bases set by arch_prctl, operands of all kinds through them, kept across calls, system calls and
// threads.
#include <asm/prctl.h>
#include <pthread.h>
#include <sys/syscall.h>

#include "guest.h"

static long first_area[16], second_area[16];

static void* other_thread(void* argument) {
  unsigned long base = 1;
  REQUIRE(syscall(SYS_arch_prctl, ARCH_GET_GS, &base) == 0);
  EXPECT(base == (uintptr_t)first_area);  // a new thread starts with its creator's base
  REQUIRE(syscall(SYS_arch_prctl, ARCH_SET_GS, second_area) == 0);
  __asm__ volatile("movq $22, %%gs:8\n lock incq %%gs:8\n" : : : "memory", "cc");
  return argument;
}

int main(void) {
  unsigned long fs = 0, gs = 1, self;
  REQUIRE(syscall(SYS_arch_prctl, ARCH_GET_FS, &fs) == 0);
  REQUIRE(syscall(SYS_arch_prctl, ARCH_GET_GS, &gs) == 0);
  __asm__("mov %%fs:0, %0" : "=r"(self));
  EXPECT(self == fs);  // the thread control block points to itself
  EXPECT(pthread_self() == fs);
  EXPECT_EQ(gs, 0);

  REQUIRE(syscall(SYS_arch_prctl, ARCH_SET_GS, first_area) == 0);
  __asm__ volatile(
      "movq $11, %%gs:0\n movl $5, %%gs:4\n mov $3, %%ecx\n movq $77, %%gs:(,%%rcx,8)\n incq "
      "%%gs:(%%rcx,%%rcx,8)\n"
      :
      :
      : "rcx", "memory", "cc");
  EXPECT_EQ(first_area[0], 0x50000000bL);
  EXPECT_EQ(first_area[3], 77 + (1 << 24));
  getppid();
  pthread_t thread;
  REQUIRE(pthread_create(&thread, NULL, other_thread, NULL) == 0);
  REQUIRE(pthread_join(thread, NULL) == 0);
  EXPECT_EQ(second_area[1], 23);
  long value;
  __asm__ volatile("mov %%gs:24, %0" : "=r"(value));
  EXPECT_EQ(value, 77 + (1 << 24));
  __asm__ volatile("pushq %%gs:24\n popq %%gs:32\n" : : : "memory");
  EXPECT_EQ(first_area[4], 77 + (1 << 24));
  double number = 0;
  first_area[5] = 0x4045000000000000;  // 42.0
  __asm__ volatile("movsd %%gs:40, %0" : "=x"(number));
  printf("%ld %.1f\n", value, number);
  // A base beyond the address space is refused and changes nothing.
  EXPECT_ERROR(syscall(SYS_arch_prctl, ARCH_SET_GS, 1ul << 63), EPERM);
  __asm__ volatile("mov %%gs:24, %0" : "=r"(value));
  EXPECT_EQ(value, 77 + (1 << 24));
  EXPECT_ERROR(syscall(SYS_arch_prctl, 0x4242, 0), EINVAL);
  return guest_result();
}
