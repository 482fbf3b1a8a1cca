// LD_PRELOAD given from outside reaches the first image.
// @env: LD_PRELOAD={dir}/libinterpose.so
#include "guest.h"

int main(void) {
  const char* answer = getenv("GUEST_PRELOAD_ANSWER");
  printf("%s\n", answer ? answer : "nothing");
  EXPECT(answer != NULL && strcmp(answer, "interposed") == 0);
  return guest_result();
}
