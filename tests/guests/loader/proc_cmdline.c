// /proc/self/cmdline, comm, environ and their copies below task/ are this program's.
// @args: one "two words" ""
// @env: GUEST_MARK=42
#include <sys/prctl.h>

#include "guest.h"

extern char** environ;

static size_t read_file(const char* path, char* buffer, size_t size) {
  FILE* file = fopen(path, "rb");
  REQUIRE(file != NULL);
  size_t length = fread(buffer, 1, size - 1, file);
  buffer[length] = 0;
  fclose(file);
  return length;
}

int main(int argc, char** argv) {
  static char got[65536], expected[65536];
  char path[128];
  size_t length = 0;
  for (int i = 0; i < argc; i++) {
    memcpy(expected + length, argv[i], strlen(argv[i]) + 1);
    length += strlen(argv[i]) + 1;
  }
  EXPECT_EQ(read_file("/proc/self/cmdline", got, sizeof got), length);
  EXPECT(memcmp(got, expected, length) == 0);
  snprintf(path, sizeof path, "/proc/%d/cmdline", getpid());
  EXPECT_EQ(read_file(path, got, sizeof got), length);
  EXPECT(memcmp(got, expected, length) == 0);

  length = 0;
  for (char** variable = environ; *variable; variable++) {
    memcpy(expected + length, *variable, strlen(*variable) + 1);
    length += strlen(*variable) + 1;
  }
  EXPECT_EQ(read_file("/proc/self/environ", got, sizeof got), length);
  EXPECT(memcmp(got, expected, length) == 0);

  read_file("/proc/self/comm", got, sizeof got);
  printf("comm %s", got);
  snprintf(path, sizeof path, "/proc/self/task/%d/comm", gettid());
  read_file(path, got, sizeof got);
  printf("task comm %s", got);
  REQUIRE(prctl(PR_SET_NAME, "renamed-by-me") == 0);
  read_file("/proc/self/comm", got, sizeof got);
  printf("comm %s", got);
  char name[16];
  REQUIRE(prctl(PR_GET_NAME, name) == 0);
  printf("name %s\n", name);
  FILE* comm = fopen("/proc/self/comm", "w");
  REQUIRE(comm != NULL);
  fputs("through-the-file-and-too-long", comm);
  fclose(comm);
  REQUIRE(prctl(PR_GET_NAME, name) == 0);
  printf("name %s\n", name);

  // Programs that rename themselves in ps write over their argument area.
  char* first = argv[1];
  memcpy(first, "ONE", 3);
  read_file("/proc/self/cmdline", got, sizeof got);
  printf("changed argument reads %s\n", got + strlen(got) + 1);
  return guest_result();
}
