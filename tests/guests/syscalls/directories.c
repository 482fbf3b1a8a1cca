// Listing directories: all of three thousand entries by readdir and by getdents64 with a small buffer,
// seeking, sorting, a tree walked with ftw, an entry that vanishes.
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "guest.h"

enum { kCount = 3000 };

static int walked;
static int visit(const char* path, const struct stat* status, int flag, struct FTW* where) {
  (void)path;
  (void)status;
  (void)where;
  walked += flag == FTW_F ? 1 : flag == FTW_D ? 1000 : 0;
  return 0;
}

int main(void) {
  REQUIRE(mkdir("many", 0700) == 0);
  char name[64];
  for (int i = 0; i < kCount; i++) {
    snprintf(name, sizeof name, "many/entry-%d", i);
    int fd = open(name, O_WRONLY | O_CREAT, 0600);
    REQUIRE(fd >= 0);
    close(fd);
  }
  DIR* folder = opendir("many");
  REQUIRE(folder != NULL);
  static char seen[kCount];
  struct dirent* entry;
  int dots = 0;
  long place = 0;
  char at_place[256] = "";
  for (int i = 0; (entry = readdir(folder)); i++) {
    if (entry->d_name[0] == '.') {
      dots++;
      continue;
    }
    int number = atoi(entry->d_name + 6);
    EXPECT_EQ(seen[number]++, 0);
    if (i == 1000) place = telldir(folder);
    if (i == 1001) strcpy(at_place, entry->d_name);
  }
  EXPECT_EQ(dots, 2);
  for (int i = 0; i < kCount; i++) EXPECT_EQ(seen[i], 1);
  seekdir(folder, place);
  entry = readdir(folder);
  EXPECT(entry != NULL && strcmp(entry->d_name, at_place) == 0);
  rewinddir(folder);
  int count = 0;
  while (readdir(folder)) count++;
  EXPECT_EQ(count, kCount + 2);
  closedir(folder);

  int fd = open("many", O_RDONLY | O_DIRECTORY);
  char buffer[200];
  long got;
  count = 0;
  while ((got = syscall(SYS_getdents64, fd, buffer, sizeof buffer)) > 0) {
    for (long at = 0; at < got;) {
      struct dirent64* item = (struct dirent64*)(buffer + at);
      at += item->d_reclen;
      count++;
    }
  }
  EXPECT_EQ(count, kCount + 2);
  EXPECT_EQ(lseek(fd, 0, SEEK_SET), 0);
  EXPECT_ERROR(syscall(SYS_getdents64, fd, buffer, 10), EINVAL);

  struct dirent** sorted;
  int entries = scandir("many", &sorted, NULL, alphasort);
  EXPECT_EQ(entries, kCount + 2);
  printf("%s %s %s\n", sorted[2]->d_name, sorted[3]->d_name, sorted[entries - 1]->d_name);

  REQUIRE(mkdir("many/sub", 0700) == 0 && mkdir("many/sub/subsub", 0700) == 0);
  EXPECT_EQ(nftw("many", visit, 16, FTW_PHYS), 0);
  printf("walked %d\n", walked);
  EXPECT_EQ(walked, kCount + 3000);
  folder = opendir("many/sub/subsub");
  EXPECT_EQ(rmdir("many/sub/subsub"), 0);
  EXPECT(readdir(folder) == NULL);
  closedir(folder);
  return guest_result();
}
