// Prints its arguments (paths shortened to their last part) and exits 5; interpreter of scripts.
#include "guest.h"

int main(int argc, char** argv) {
  for (int i = 0; i < argc; i++) {
    const char* slash = argv[i][0] == '/' ? strrchr(argv[i], '/') : NULL;
    printf("  [%d] '%s'\n", i, slash ? slash + 1 : argv[i]);
  }
  fflush(stdout);
  return 5;
}
