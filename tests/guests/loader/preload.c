// LD_PRELOAD interposes a function of libc for the next image; the interposed one is reached by RTLD_NEXT.
#include "guest.h"

int main(int argc, char** argv) {
  if (argc == 1) {
    printf("getenv without preload: %s\n", getenv("GUEST_PRELOAD_ANSWER") ? "answered" : "nothing");
    char setting[4200];
    snprintf(setting, sizeof setting, "LD_PRELOAD=%s", beside_me("libinterpose.so"));
    char* environment[] = {setting, "REAL=value", NULL};
    char* arguments[] = {argv[0], "preloaded", NULL};
    fflush(stdout);
    execve("/proc/self/exe", arguments, environment);
    REQUIRE(!"execve returned");
  }
  const char* answer = getenv("GUEST_PRELOAD_ANSWER");
  printf("getenv with preload: %s\n", answer ? answer : "nothing");
  EXPECT(answer != NULL && strcmp(answer, "interposed") == 0);
  EXPECT(strcmp(getenv("REAL"), "value") == 0);
  return guest_result();
}
