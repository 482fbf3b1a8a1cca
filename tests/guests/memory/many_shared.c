// More files mapped shared, and more shared anonymous memory, than a process has descriptors for.
#include <fcntl.h>
#include <sys/mman.h>

#include "guest.h"

enum { kFiles = 600, kAnonymous = 700 };

int main(void) {
  static char *files[kFiles], *anonymous[kAnonymous];
  char name[32];
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < kFiles; i++) {
      snprintf(name, sizeof name, "file%d", i);
      int file = open(name, O_RDWR | O_CREAT, 0600);
      REQUIRE(file >= 0 && ftruncate(file, 4096) == 0);
      files[i] = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
      REQUIRE(files[i] != MAP_FAILED);
      EXPECT(files[i][0] == (round == 0 ? 0 : (char)i));
      files[i][0] = (char)i;
      close(file);
    }
    for (int i = 0; i < kAnonymous; i++) {
      anonymous[i] = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
      REQUIRE(anonymous[i] != MAP_FAILED);
      EXPECT(anonymous[i][5000] == 0);
      anonymous[i][5000] = (char)i;
    }
    int sum = 0;
    for (int i = 0; i < kFiles; i++) sum += files[i][0];
    for (int i = 0; i < kAnonymous; i++) sum += anonymous[i][5000];
    printf("round %d: %d\n", round, sum);
    for (int i = 0; i < kFiles; i++) munmap(files[i], 4096);
    for (int i = 0; i < kAnonymous; i++) munmap(anonymous[i], 8192);
  }
  return guest_result();
}
