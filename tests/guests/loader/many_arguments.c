// A command line of 1 MiB survives execve and arrives in order.
#include "guest.h"

enum { kCount = 8000, kLength = 130 };

int main(int argc, char** argv) {
  if (argc == 1) {
    static char* arguments[kCount + 2];
    arguments[0] = argv[0];
    for (int i = 1; i <= kCount; i++) {
      arguments[i] = malloc(kLength + 1);
      memset(arguments[i], 'a' + i % 26, kLength);
      arguments[i][kLength] = 0;
    }
    execv("/proc/self/exe", arguments);
    REQUIRE(!"execv returned");
  }
  EXPECT_EQ(argc, kCount + 1);
  for (int i = 1; i < argc; i++) {
    EXPECT_EQ(strlen(argv[i]), kLength);
    EXPECT_EQ(argv[i][0], 'a' + i % 26);
    EXPECT_EQ(argv[i][kLength - 1], 'a' + i % 26);
  }
  char* arguments_only[] = {argv[0], NULL};
  char* too_long = malloc(200 << 10);
  memset(too_long, 'x', 200 << 10);
  too_long[(200 << 10) - 1] = 0;
  arguments_only[0] = too_long;
  EXPECT_ERROR(execv("/proc/self/exe", arguments_only), E2BIG);
  return guest_result();
}
