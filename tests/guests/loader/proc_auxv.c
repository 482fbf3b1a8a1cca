// /proc/self/auxv is the vector the program was given.
#include <elf.h>
#include <sys/auxv.h>

#include "guest.h"

extern char** environ;

int main(int argc, char** argv) {
  // The vector lies behind the environment's NULL.
  char** end = argv + argc + 1;
  while (*end) end++;
  const Elf64_auxv_t* own = (const Elf64_auxv_t*)(end + 1);
  FILE* file = fopen("/proc/self/auxv", "rb");
  REQUIRE(file != NULL);
  static Elf64_auxv_t entries[64];
  size_t count = fread(entries, sizeof entries[0], 64, file);
  fclose(file);
  REQUIRE(count > 10);
  int ended = 0;
  for (size_t i = 0; i < count && !ended; i++) {
    EXPECT_EQ(entries[i].a_type, own[i].a_type);
    EXPECT(entries[i].a_un.a_val == own[i].a_un.a_val);
    if (entries[i].a_type == AT_NULL) ended = 1;
    if (entries[i].a_type != AT_NULL && entries[i].a_type != AT_HWCAP) {  // libc has its own idea of AT_HWCAP
      EXPECT(getauxval(entries[i].a_type) == entries[i].a_un.a_val);
    }
  }
  EXPECT(ended);
  return guest_result();
}
