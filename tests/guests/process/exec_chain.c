// Sixty executions one after the other, by turns dynamic and static image; nothing piles up (descriptors,
// mappings).
#include <dirent.h>

#include "guest.h"

static int descriptors(void) {
  DIR* folder = opendir("/proc/self/fd");
  REQUIRE(folder != NULL);
  int count = 0;
  while (readdir(folder)) count++;
  closedir(folder);
  return count;
}

static int mappings(void) {
  FILE* maps = fopen("/proc/self/maps", "r");
  REQUIRE(maps != NULL);
  int rows = 0, byte;
  while ((byte = fgetc(maps)) != EOF) rows += byte == '\n';
  fclose(maps);
  return rows;
}

int main(int argc, char** argv) {
  int round = argc > 1 ? atoi(argv[1]) : 0;
  int first_descriptors = argc > 2 ? atoi(argv[2]) : descriptors();
  EXPECT_EQ(descriptors(), first_descriptors);
  EXPECT(mappings() < 60);
  if (guest_failures || round == 60) {
    printf("round %d\n", round);
    return guest_result();
  }
  char number[32], count[32], path[4096];
  snprintf(number, sizeof number, "%d", round + 1);
  snprintf(count, sizeof count, "%d", first_descriptors);
  snprintf(path, sizeof path, "%s", beside_me(round % 2 ? "exec_chain" : "exec_chain_static"));
  char* arguments[] = {argv[0], number, count, NULL};
  execv(path, arguments);
  REQUIRE(!"execv returned");
}
