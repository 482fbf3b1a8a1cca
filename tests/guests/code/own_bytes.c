// A program that reads its own code sees the file's bytes, before and after running it.
#include <elf.h>
#include <fcntl.h>
#include <link.h>

#include "guest.h"

extern const Elf64_Ehdr __ehdr_start __attribute__((visibility("hidden")));

static void compare(void) {
  int fd = open("/proc/self/exe", O_RDONLY);
  REQUIRE(fd >= 0);
  const char* base = (const char*)&__ehdr_start;
  const Elf64_Phdr* headers = (const Elf64_Phdr*)(base + __ehdr_start.e_phoff);
  uintptr_t first = headers[0].p_vaddr;
  for (int i = 0; i < __ehdr_start.e_phnum; i++) {
    if (headers[i].p_type == PT_PHDR) first = headers[i].p_vaddr - headers[i].p_offset;
  }
  size_t bytes = 0, different = 0;
  for (int i = 0; i < __ehdr_start.e_phnum; i++) {
    if (headers[i].p_type != PT_LOAD || (headers[i].p_flags & PF_W)) continue;
    char* file = malloc(headers[i].p_filesz);
    REQUIRE(pread(fd, file, headers[i].p_filesz, (off_t)headers[i].p_offset) == (ssize_t)headers[i].p_filesz);
    const char* memory = base + (headers[i].p_vaddr - first);
    for (size_t k = 0; k < headers[i].p_filesz; k++) different += file[k] != memory[k];
    bytes += headers[i].p_filesz;
    free(file);
  }
  close(fd);
  EXPECT(bytes > 1000);
  EXPECT_EQ(different, 0);
}

static __attribute__((noinline)) int work(int n) { return n < 2 ? n : work(n - 1) + work(n - 2); }

int main(void) {
  compare();
  printf("%d\n", work(15));
  compare();
  return guest_result();
}
