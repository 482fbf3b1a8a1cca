// Other code at the same address: unmapped and mapped again, mapped over, moved by mremap, a file changed
// under its mapping, a library replaced, discarded by MADV_DONTNEED.
#include <fcntl.h>

#include "code/jit.h"

static void make_file(const char* name, int value) {
  unsigned char code[16];
  emit_ret(emit_mov_eax(code, value));
  int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
  REQUIRE(fd >= 0 && write(fd, code, 6) == 6 && ftruncate(fd, kPage) == 0);
  close(fd);
}

int main(void) {
  unsigned char* place = map_code(4 * kPage, PROT_NONE);
  for (int i = 0; i < 200; i++) {
    REQUIRE(munmap(place, kPage) == 0);
    REQUIRE(mmap(place, kPage, kAll, kAnonymous | MAP_FIXED_NOREPLACE, -1, 0) == place);
    emit_ret(emit_mov_eax(place, i));
    EXPECT_EQ(((Code)place)(0), i);
  }
  for (int i = 0; i < 200; i++) {
    REQUIRE(mmap(place, kPage, kReadWrite, kAnonymous | MAP_FIXED, -1, 0) == place);
    emit_ret(emit_mov_eax(place, i + 1000));
    REQUIRE(mprotect(place, kPage, kReadExecute) == 0);
    EXPECT_EQ(((Code)place)(0), i + 1000);
  }
  // Files in turn, mapped executable from the start.
  for (int i = 0; i < 4; i++) {
    char name[8] = {'f', (char)('0' + i), 0};
    make_file(name, i + 2000);
  }
  for (int i = 0; i < 100; i++) {
    char name[8] = {'f', (char)('0' + i % 4), 0};
    int fd = open(name, O_RDONLY);
    REQUIRE(fd >= 0);
    REQUIRE(mmap(place, kPage, kReadExecute, MAP_PRIVATE | MAP_FIXED, fd, 0) == place);
    close(fd);
    EXPECT_EQ(((Code)place)(0), i % 4 + 2000);
  }
  // A mapped file rewritten through its descriptor; truncated and written again.
  int fd = open("f0", O_RDWR);
  REQUIRE(fd >= 0);
  REQUIRE(mmap(place, kPage, kReadExecute, MAP_SHARED | MAP_FIXED, fd, 0) == place);
  for (int i = 0; i < 100; i++) {
    unsigned char code[16];
    emit_ret(emit_mov_eax(code, i + 3000));
    if (i % 10 == 0) REQUIRE(ftruncate(fd, 0) == 0);
    EXPECT_EQ(pwrite(fd, code, 6, 0), 6);
    EXPECT_EQ(((Code)place)(0), i + 3000);
  }
  // mremap moves code away and other code in.
  REQUIRE(mmap(place, 4 * kPage, kAll, kAnonymous | MAP_FIXED, -1, 0) == place);
  for (int i = 0; i < 4; i++) emit_ret(emit_mov_eax(place + i * kPage, i + 4000));
  for (int i = 0; i < 4; i++) EXPECT_EQ(((Code)(place + i * kPage))(0), i + 4000);
  unsigned char* target = map_code(kPage, kAll);
  emit_ret(emit_mov_eax(target, 1));
  EXPECT_EQ(((Code)target)(0), 1);
  REQUIRE(mremap(place + kPage, kPage, kPage, MREMAP_MAYMOVE | MREMAP_FIXED, target) == target);
  EXPECT_EQ(((Code)target)(0), 4001);
  REQUIRE(mremap(place + 3 * kPage, kPage, kPage, MREMAP_MAYMOVE | MREMAP_FIXED, place + kPage) ==
          place + kPage);
  EXPECT_EQ(((Code)(place + kPage))(0), 4003);
  // Discarded: private file pages come back as the file is, anonymous ones empty.
  REQUIRE(mmap(place, kPage, kAll, MAP_PRIVATE | MAP_FIXED, fd, 0) == place);
  EXPECT_EQ(((Code)place)(0), 3099);
  emit32(place + 1, 5000);
  EXPECT_EQ(((Code)place)(0), 5000);
  REQUIRE(madvise(place, kPage, MADV_DONTNEED) == 0);
  EXPECT_EQ(((Code)place)(0), 3099);
  printf("all replaced\n");
  return guest_result();
}
