// A program whose interpreter is a copy of the dynamic loader at another path.
#include <elf.h>
#include <sys/auxv.h>

#include "guest.h"

int main(void) {
  // The row of the interpreter's base in the map names the copy.
  uintptr_t base = getauxval(AT_BASE);
  FILE* maps = fopen("/proc/self/maps", "r");
  REQUIRE(maps != NULL);
  char line[1024], path[512] = "";
  while (fgets(line, sizeof line, maps)) {
    uintptr_t start, end;
    if (sscanf(line, "%lx-%lx %*s %*s %*s %*s %511s", &start, &end, path) == 3 && start <= base && base < end)
      break;
  }
  fclose(maps);
  const char* slash = strrchr(path, '/');
  printf("interpreter %s\n", slash ? slash + 1 : "?");
  EXPECT(slash != NULL && strcmp(slash, "/custom-loader.so") == 0);
  return guest_result();
}
