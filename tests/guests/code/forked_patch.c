// After fork both sides patch the same function, each its own copy.
#include <sys/wait.h>

#include "code/jit.h"

int main(void) {
  unsigned char* code = map_code(kPage, kAll);
  emit_ret(emit_mov_eax(code, 1));
  EXPECT_EQ(((Code)code)(0), 1);
  for (int i = 0; i < 10; i++) {
    fflush(stdout);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      int before = ((Code)code)(0);
      emit32(code + 1, 50 + i);
      _exit(before == 1 + i && ((Code)code)(0) == 50 + i ? 0 : 1);
    }
    emit32(code + 1, 2 + i);
    EXPECT_EQ(((Code)code)(0), 2 + i);
    int status;
    EXPECT(waitpid(child, &status, 0) == child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(((Code)code)(0), 2 + i);
  }
  return guest_result();
}
