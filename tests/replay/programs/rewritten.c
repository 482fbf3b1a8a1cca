// Files that the program changes right after it has mapped them: what was mapped is what they held before.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kBytes = 8 << 20 };
static const char* const kName = "rewritten.data";

static void fail(const char* what) {
  perror(what);
  exit(1);
}

static void fill(int fd, char with) {
  char* content = malloc(kBytes);
  memset(content, with, kBytes);
  for (size_t done = 0; done < kBytes;) {
    ssize_t size = pwrite(fd, content + done, kBytes - done, (off_t)done);
    if (size <= 0) fail("pwrite");
    done += (size_t)size;
  }
  free(content);
}

/// A file that has not been changed for long, as far as its times can tell.
static void make(char with) {
  int fd = open(kName, O_CREAT | O_TRUNC | O_WRONLY, 0600);
  if (fd < 0) fail(kName);
  fill(fd, with);
  close(fd);
  usleep(1200 * 1000);
}

static const char* map(void) {
  int fd = open(kName, O_RDONLY);
  const char* place = mmap(NULL, kBytes, PROT_READ, MAP_PRIVATE, fd, 0);
  if (place == MAP_FAILED) fail("mmap");
  close(fd);
  return place;
}

static void show(const char* what, const char* place) {
  unsigned long sum = 0;
  for (size_t i = 0; i < kBytes; i += 4096) sum = sum * 31 + (unsigned char)place[i];
  printf("%s: %lx\n", what, sum);
}

int main(void) {
  make('a');
  const char* place = map();
  int fd = open(kName, O_WRONLY);
  fill(fd, 'b');
  close(fd);
  show("rewritten while it is mapped", place);
  munmap((void*)place, kBytes);

  make('c');
  place = map();
  printf("%c\n", place[kBytes - 1]);
  munmap((void*)place, kBytes);
  fd = open(kName, O_WRONLY);
  fill(fd, 'd');
  close(fd);
  show("rewritten and mapped again", place = map());
  munmap((void*)place, kBytes);

  make('e');
  place = map();
  printf("%c\n", place[4096]);
  if ((fd = open(kName, O_WRONLY | O_TRUNC)) < 0) fail(kName);
  fill(fd, 'f');
  close(fd);
  show("emptied and rewritten", place);
  munmap((void*)place, kBytes);

  // Another file of the same size with the same mtime, in the same place.
  struct stat before;
  make('g');
  show("before", place = map());
  munmap((void*)place, kBytes);
  if (stat(kName, &before) != 0 || (fd = open(kName, O_WRONLY)) < 0) fail(kName);
  fill(fd, 'h');
  const struct timespec times[2] = {before.st_atim, before.st_mtim};
  if (futimens(fd, times) != 0) fail("futimens");
  close(fd);
  show("the mtime put back", place = map());

  unlink(kName);
  return 0;
}
