// One memory, two mappings: written through the one (read-write), executed through the other (read-execute);
// the mappings of a memfd, of a file, and a System V segment; also by write(2) to the file.
#include <fcntl.h>
#include <sys/shm.h>

#include "code/jit.h"

static void run(const char* what, unsigned char* writable, unsigned char* executable) {
  long sum = 0;
  for (int i = 0; i < 1000; i++) {
    unsigned char* at = writable + i % 5 * 64;
    emit_ret(emit_lea(at, i));
    int got = ((Code)(executable + i % 5 * 64))(1);
    EXPECT_EQ(got, i + 1);
    sum += got;
  }
  printf("%s: %ld\n", what, sum);
}

int main(void) {
  int fd = memfd_create("code", 0);
  REQUIRE(fd >= 0 && ftruncate(fd, kPage) == 0);
  unsigned char* writable = mmap(NULL, kPage, kReadWrite, MAP_SHARED, fd, 0);
  unsigned char* executable = mmap(NULL, kPage, kReadExecute, MAP_SHARED, fd, 0);
  REQUIRE(writable != MAP_FAILED && executable != MAP_FAILED);
  run("memfd", writable, executable);
  for (int i = 0; i < 200; i++) {
    unsigned char code[8];
    emit_ret(emit_mov_eax(code, i));
    EXPECT_EQ(pwrite(fd, code, 6, 0), 6);
    EXPECT_EQ(((Code)executable)(0), i);
  }
  // A second writable mapping made later, the first one gone.
  REQUIRE(munmap(writable, kPage) == 0);
  writable = mmap(NULL, kPage, kReadWrite, MAP_SHARED, fd, 0);
  REQUIRE(writable != MAP_FAILED);
  run("memfd, mapped again", writable, executable);

  int file = open("code.bin", O_RDWR | O_CREAT, 0700);
  REQUIRE(file >= 0 && ftruncate(file, 2 * kPage) == 0);
  writable = mmap(NULL, 2 * kPage, kReadWrite, MAP_SHARED, file, 0);
  executable = mmap(NULL, kPage, kReadExecute, MAP_SHARED, file, kPage);
  REQUIRE(writable != MAP_FAILED && executable != MAP_FAILED);
  run("file", writable + kPage, executable);

  // Two executable views of what is written through a third.
  unsigned char* second = mmap(NULL, kPage, kReadExecute, MAP_SHARED, file, kPage);
  REQUIRE(second != MAP_FAILED);
  for (int i = 0; i < 200; i++) {
    emit_ret(emit_mov_eax(writable + kPage, i));
    EXPECT_EQ(((Code)executable)(0), i);
    EXPECT_EQ(((Code)second)(0), i);
  }

  int id = shmget(IPC_PRIVATE, kPage, IPC_CREAT | 0700);
  REQUIRE(id >= 0);
  writable = shmat(id, NULL, 0);
  executable = shmat(id, NULL, SHM_EXEC | SHM_RDONLY);
  shmctl(id, IPC_RMID, NULL);
  REQUIRE(writable != (void*)-1 && executable != (void*)-1);
  run("segment", writable, executable);

  // A doubled mapping by mremap.
  writable = mmap(NULL, kPage, kAll, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(writable != MAP_FAILED);
  executable = mremap(writable, 0, kPage, MREMAP_MAYMOVE);
  REQUIRE(executable != MAP_FAILED);
  run("doubled", writable, executable);
  return guest_result();
}
