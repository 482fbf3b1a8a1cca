// The status of the whole program arrives.
// @exit: 42
// @args: 42
// @stdin: line one\nline two\n
#include "guest.h"

int main(int argc, char** argv) {
  char line[64];
  while (fgets(line, sizeof line, stdin)) printf("read %s", line);
  fflush(stdout);
  return argc > 1 ? atoi(argv[1]) : 1;
}
