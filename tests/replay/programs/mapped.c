// A file that is mapped twice, written by calls, made longer and shorter, and read back.
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int main(void) {
  int file = open("mapped.dat", O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (file < 0 || ftruncate(file, 3 * 4096) != 0) return 2;
  char* one = mmap(NULL, 4 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  char* two = mmap(NULL, 4 * 4096, PROT_READ, MAP_SHARED, file, 0);
  char* own = mmap(NULL, 4 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
  unsigned long hash = 5381;
  for (int i = 0; i < 300; i++) {
    char text[32];
    int size = snprintf(text, sizeof text, "round %d pid %d\n", i, (int)getpid());
    if (pwrite(file, text, (size_t)size, i * 40) != size) return 3;
    one[i * 40 + 30] = two[i * 40];
    if (i % 50 == 49) own[i] = 'x';
    for (int at = 0; at < 3 * 4096; at++) hash = hash * 33 + (unsigned char)two[at] + (unsigned char)own[at];
  }
  if (ftruncate(file, 4 * 4096) != 0) return 4;
  strcpy(one + 3 * 4096, "beyond");
  one = mremap(one, 4 * 4096, 2 * 4096, 0);
  one = mremap(one, 2 * 4096, 4 * 4096, MREMAP_MAYMOVE);
  printf("%lx %s %c\n", hash, one + 3 * 4096, own[49]);
  return 0;
}
