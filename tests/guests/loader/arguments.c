// argv and the environment arrive unchanged: empty arguments, spaces, bytes above 127, long ones.
// @args: plain "two words" "" "tab	here" "üñï" --option=value -- -x "quote'inside"
// @env: GUEST_VALUE=some=thing GUEST_EMPTY= "GUEST_SPACES=a b"
#include "guest.h"

extern char** environ;

int main(int argc, char** argv) {
  EXPECT(argv[argc] == NULL);
  for (int i = 1; i < argc; i++) printf("[%d] '%s' (%zu bytes)\n", i, argv[i], strlen(argv[i]));
  for (char** variable = environ; *variable; variable++) {
    if (strncmp(*variable, "HOME=", 5) != 0) printf("env %s\n", *variable);
  }
  EXPECT(environ == argv + argc + 1);
  EXPECT(strcmp(getenv("GUEST_VALUE"), "some=thing") == 0);
  EXPECT(strcmp(getenv("GUEST_EMPTY"), "") == 0);
  EXPECT(strcmp(getenv("GUEST_SPACES"), "a b") == 0);
  const char* slash = strrchr(argv[0], '/');
  EXPECT(slash != NULL);
  printf("argv[0] ends in %s, program_invocation_short_name is %s\n", slash, program_invocation_short_name);
  return guest_result();
}
