// The dynamic loader started as a program: /lib64/ld-linux-x86-64.so.2 PROGRAM ARGUMENT.
#include "guest.h"

int main(int argc, char** argv) {
  char path[4096];
  if (argc == 1) {
    snprintf(path, sizeof path, "%s", beside_me("loader_as_program"));
    char* arguments[] = {"ld.so", path, "inside", NULL};
    fflush(stdout);
    execv("/lib64/ld-linux-x86-64.so.2", arguments);
    REQUIRE(!"execv returned");
  }
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  REQUIRE(length > 0);
  path[length] = 0;
  printf("%s: argc %d, /proc/self/exe is %s\n", argv[1], argc,
         strstr(path, "ld-linux") ? "the loader" : path);
  EXPECT(strstr(path, "ld-linux") != NULL);
  return guest_result();
}
