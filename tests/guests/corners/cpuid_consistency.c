// cpuid tells one story: the same at every call and in every thread and process, consistent with xgetbv, with
// the auxiliary vector and with the instructions that it promises; highest leaves bound the others.
#include <cpuid.h>
#include <elf.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/wait.h>

#include "guest.h"

typedef struct {
  unsigned a, b, c, d;
} Leaf;

static Leaf ask(unsigned leaf, unsigned sub) {
  Leaf l;
  __cpuid_count(leaf, sub, l.a, l.b, l.c, l.d);
  return l;
}

static Leaf story[64];
static int length;

// What does not depend on the processor one happens to run on.
static void tell(Leaf* to) {
  length = 0;
  for (unsigned leaf = 0; leaf <= 8; leaf++) {
    if (leaf == 4) continue;
    to[length] = ask(leaf, 0);
    if (leaf == 1) to[length].b &= 0x00ffffff;  // initial APIC id
    length++;
  }
  for (unsigned leaf = 0; leaf < 9; leaf++) to[length++] = ask(0x80000000 + leaf, 0);
  for (unsigned sub = 0; sub < 4; sub++) to[length++] = ask(4, sub);
  for (unsigned sub = 0; sub < 3; sub++) {
    to[length] = ask(13, sub);
    length++;
  }
}

static void* in_thread(void* argument) {
  Leaf own[64];
  tell(own);
  return (void*)(long)memcmp(own, story, sizeof *own * (size_t)length) + (argument != NULL);
}

int main(void) {
  tell(story);
  for (int i = 0; i < 20; i++) {
    Leaf again[64];
    tell(again);
    EXPECT(memcmp(again, story, sizeof *again * (size_t)length) == 0);
  }
  pthread_t thread;
  for (int i = 0; i < 4; i++) {
    void* different;
    REQUIRE(pthread_create(&thread, NULL, in_thread, NULL) == 0);
    REQUIRE(pthread_join(thread, &different) == 0);
    EXPECT(different == NULL);
  }
  pid_t child = fork();
  if (child == 0) _exit(in_thread(NULL) != NULL);
  int status;
  EXPECT(waitpid(child, &status, 0) == child && status == 0);

  Leaf zero = ask(0, 0), one = ask(1, 0), seven = ask(7, 0);
  char vendor[13] = "";
  memcpy(vendor, &zero.b, 4);
  memcpy(vendor + 4, &zero.d, 4);
  memcpy(vendor + 8, &zero.c, 4);
  EXPECT(strlen(vendor) == 12);
  EXPECT(zero.a >= 7 && zero.a < 0x100);
  // OSXSAVE promises xgetbv; the enabled features include what the flags promise.
  EXPECT(one.c & bit_OSXSAVE);
  unsigned low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  EXPECT((low & 3) == 3);
  if (one.c & bit_AVX) EXPECT((low & 6) == 6);
  if (seven.b & bit_AVX512F) EXPECT((low & 0xe6) == 0xe6);
  Leaf extended = ask(13, 0);
  EXPECT_EQ(extended.a & low, low);
  EXPECT(extended.b <= extended.c && extended.b >= 576);
  // What is promised is there.
  if (one.c & bit_POPCNT) {
    unsigned long bits;
    __asm__("popcnt %1, %0" : "=r"(bits) : "r"(0xfful) : "cc");
    EXPECT_EQ(bits, 8);
  }
  if (one.c & bit_RDRND) {
    unsigned long value;
    unsigned char valid = 0;
    for (int i = 0; i < 100 && !valid; i++)
      __asm__ volatile("rdrand %0\n setc %1" : "=r"(value), "=q"(valid) : : "cc");
    EXPECT(valid);
  }
  if (seven.b & (1u << 18)) {
    unsigned long value;
    unsigned char valid = 0;
    for (int i = 0; i < 100000 && !valid; i++)
      __asm__ volatile("rdseed %0\n setc %1" : "=r"(value), "=q"(valid) : : "cc");
    EXPECT(valid);
  }
  if (seven.b & 1) {  // fsgsbase, when the kernel allows it
    if (getauxval(AT_HWCAP2) & 2) {
      unsigned long base;
      __asm__ volatile("rdfsbase %0" : "=r"(base));
      EXPECT(base == pthread_self());
    }
  } else {
    EXPECT(!(getauxval(AT_HWCAP2) & 2));
  }
  __builtin_cpu_init();
  EXPECT_EQ(!!__builtin_cpu_supports("avx2"), !!(seven.b & bit_AVX2));
  printf("%d leaves\n", length);
  return guest_result();
}
