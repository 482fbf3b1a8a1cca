// The auxiliary vector describes this program: entry, headers, identity, page size, random bytes, cpu
// features.
#include <cpuid.h>
#include <elf.h>
#include <link.h>
#include <sys/auxv.h>

#include "guest.h"

extern const Elf64_Ehdr __ehdr_start __attribute__((visibility("hidden")));
extern void _start(void);

static int first_object(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size;
  *(struct dl_phdr_info*)data = *info;
  return 1;
}

int main(int argc, char** argv) {
  const char* base = (const char*)&__ehdr_start;
  EXPECT(getauxval(AT_PHDR) == (uintptr_t)base + __ehdr_start.e_phoff);
  EXPECT_EQ(getauxval(AT_PHENT), sizeof(Elf64_Phdr));
  EXPECT_EQ(getauxval(AT_PHNUM), __ehdr_start.e_phnum);
  EXPECT_EQ(getauxval(AT_PAGESZ), 4096);
  EXPECT_EQ(getauxval(AT_CLKTCK), 100);
  EXPECT_EQ(getauxval(AT_FLAGS), 0);
  EXPECT_EQ(getauxval(AT_SECURE), 0);
  EXPECT(getauxval(AT_ENTRY) == (uintptr_t)&_start);
  EXPECT_EQ(getauxval(AT_UID), getuid());
  EXPECT_EQ(getauxval(AT_EUID), geteuid());
  EXPECT_EQ(getauxval(AT_GID), getgid());
  EXPECT_EQ(getauxval(AT_EGID), getegid());
  EXPECT(getauxval(AT_MINSIGSTKSZ) >= 1000);

  const char* name = (const char*)getauxval(AT_EXECFN);
  REQUIRE(name != NULL);
  EXPECT(strcmp(name, argv[0]) == 0);
  const char* platform = (const char*)getauxval(AT_PLATFORM);
  REQUIRE(platform != NULL);
  printf("platform %s\n", platform);
  const unsigned char* random = (const unsigned char*)getauxval(AT_RANDOM);
  REQUIRE(random != NULL);
  int bits = 0;
  for (int i = 0; i < 16; i++) bits += __builtin_popcount(random[i]);
  EXPECT(bits > 10 && bits < 118);

  unsigned eax, ebx, ecx, edx;
  __cpuid(1, eax, ebx, ecx, edx);
  // libc replaces the AT_HWCAP that getauxval gives; the vector has the kernel's.
  char** end = argv + argc + 1;
  while (*end) end++;
  const Elf64_auxv_t* entry = (const Elf64_auxv_t*)(end + 1);
  while (entry->a_type != AT_NULL && entry->a_type != AT_HWCAP) entry++;
  EXPECT_EQ(entry->a_type, AT_HWCAP);
  EXPECT_EQ((unsigned)entry->a_un.a_val, edx);

  struct dl_phdr_info info;
  REQUIRE(dl_iterate_phdr(first_object, &info) == 1);
  EXPECT((uintptr_t)info.dlpi_phdr == getauxval(AT_PHDR));
  const Elf64_Phdr* headers = (const Elf64_Phdr*)getauxval(AT_PHDR);
  int loads = 0, interpreter = 0;
  for (unsigned long i = 0; i < getauxval(AT_PHNUM); i++) {
    if (headers[i].p_type == PT_LOAD) loads++;
    if (headers[i].p_type == PT_INTERP) interpreter = 1;
    if (headers[i].p_type == PT_PHDR)
      EXPECT((uintptr_t)info.dlpi_addr + headers[i].p_vaddr == (uintptr_t)headers);
  }
  printf("%d loads, interpreter %d\n", loads, interpreter);
  if (interpreter) {
    const Elf64_Ehdr* loader = (const Elf64_Ehdr*)getauxval(AT_BASE);
    REQUIRE(loader != NULL);
    EXPECT(memcmp(loader->e_ident, ELFMAG, SELFMAG) == 0);
    EXPECT_EQ(loader->e_type, ET_DYN);
  } else {
    EXPECT_EQ(getauxval(AT_BASE), 0);
  }
  return guest_result();
}
