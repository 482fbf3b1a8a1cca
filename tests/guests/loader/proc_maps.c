// /proc/self/maps shows this program's memory as it is: own rows with their permissions, stack, heap, what we
// map and change, in order, and nothing that is not ours.
#include <sys/mman.h>

#include "guest.h"

typedef struct {
  uintptr_t start, end;
  char permissions[5];
  unsigned long offset, inode;
  char path[512];
} Row;

static Row rows[4096];
static int row_count;

static void read_maps(const char* file) {
  FILE* maps = fopen(file, "r");
  REQUIRE(maps != NULL);
  char line[1024];
  row_count = 0;
  while (fgets(line, sizeof line, maps)) {
    Row* row = &rows[row_count++];
    unsigned major, minor;
    int used = 0;
    row->path[0] = 0;
    int fields = sscanf(line, "%lx-%lx %4s %lx %x:%x %lu %n", &row->start, &row->end, row->permissions,
                        &row->offset, &major, &minor, &row->inode, &used);
    EXPECT_EQ(fields, 7);
    if (used > 0) sscanf(line + used, "%511[^\n]", row->path);
    REQUIRE(row_count < 4096);
  }
  fclose(maps);
}

static Row* row_of(const void* address) {
  static Row none;
  for (int i = 0; i < row_count; i++) {
    if (rows[i].start <= (uintptr_t)address && (uintptr_t)address < rows[i].end) return &rows[i];
  }
  return &none;
}

static void expect_row(const char* what, const void* address, const char* permissions, const char* path) {
  Row* row = row_of(address);
  if (strcmp(row->permissions, permissions) != 0 || strcmp(row->path, path) != 0) {
    guest_failures++;
    printf("FAILED %s: '%s' '%s', expected '%s' '%s'\n", what, row->permissions, row->path, permissions,
           path);
  }
}

static const char* last_part(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static int known(const Row* row) { return row->path[0] == '/' || row->path[0] == '['; }

static int initialised = 1;
static const int kConstant = 2;

int main(int argc, char** argv) {
  (void)argc;
  char real[4096];
  REQUIRE(realpath(argv[0], real) != NULL);
  char* heap = malloc(100000);
  char* mapped = mmap(NULL, 16384, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(mapped != MAP_FAILED);
  REQUIRE(mprotect(mapped + 4096, 4096, PROT_READ) == 0);
  REQUIRE(mprotect(mapped + 8192, 4096, PROT_NONE) == 0);

  read_maps("/proc/self/maps");
  expect_row("code", (void*)main, "r-xp", real);
  expect_row("data", &initialised, "rw-p", real);
  expect_row("constant", &kConstant, "r--p", real);
  expect_row("stack", &real, "rw-p", "[stack]");
  expect_row("argv strings", argv[0], "rw-p", "[stack]");
  expect_row("heap", heap, "rw-p", "[heap]");
  expect_row("mapped 0", mapped, "rw-p", "");
  expect_row("mapped 1", mapped + 4096, "r--p", "");
  expect_row("mapped 2", mapped + 8192, "---p", "");
  expect_row("mapped 3", mapped + 12288, "rw-p", "");

  size_t anonymous = 0;
  int own = 0;
  for (int i = 0; i < row_count; i++) {
    Row* row = &rows[i];
    EXPECT(row->start < row->end);
    if (i > 0) EXPECT(rows[i - 1].end <= row->start);
    EXPECT(row->permissions[3] == 'p');
    EXPECT(strstr(row->path, "detrec") == NULL || strncmp(row->path, real, strlen(real)) == 0);
    EXPECT(strstr(row->path, "memfd") == NULL);
    if (row->permissions[2] == 'x') {
      EXPECT(known(row));
      EXPECT(row->permissions[1] != 'w');
    }
    if (!known(row)) anonymous += row->end - row->start;
    if (row->path[0] == '/') {
      EXPECT(row->inode != 0);
      printf("%s %s offset %lx, %lu KiB\n", last_part(row->path), row->permissions, row->offset,
             (row->end - row->start) >> 10);
    } else {
      EXPECT_EQ(row->inode, 0);
    }
    if (strcmp(row->path, real) == 0) own++;
  }
  EXPECT(own >= 4);
  EXPECT(anonymous < 4 << 20);  // what the loader, libc and we mapped; an engine's tables would be far larger

  REQUIRE(munmap(mapped, 16384) == 0);
  read_maps("/proc/thread-self/maps");
  EXPECT_EQ(row_of(mapped)->start, 0);
  expect_row("code", (void*)main, "r-xp", real);
  char name[64];
  snprintf(name, sizeof name, "/proc/%d/maps", getpid());
  read_maps(name);
  expect_row("code by pid", (void*)main, "r-xp", real);
  return guest_result();
}
