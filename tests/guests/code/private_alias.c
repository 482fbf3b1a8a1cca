// Code in a private file mapping whose page was never written follows what a shared mapping writes to the
// file.
#include <fcntl.h>

#include "code/jit.h"

int main(void) {
  int file = open("code.bin", O_RDWR | O_CREAT, 0700);
  REQUIRE(file >= 0 && ftruncate(file, kPage) == 0);
  unsigned char* writable = mmap(NULL, kPage, kReadWrite, MAP_SHARED, file, 0);
  unsigned char* private = mmap(NULL, kPage, kReadExecute, MAP_PRIVATE, file, 0);
  REQUIRE(writable != MAP_FAILED && private != MAP_FAILED);
  for (int i = 0; i < 100; i++) {
    emit_ret(emit_mov_eax(writable, i));
    EXPECT_EQ(((Code) private)(0), i);
  }
  return guest_result();
}
