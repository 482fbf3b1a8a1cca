// A library is found as the dynamic loader documents it: LD_LIBRARY_PATH, an $ORIGIN in RUNPATH.
// @env: LD_LIBRARY_PATH={dir}/other
#include "guest.h"

int library_answer(void);

int main(void) {
  printf("answer %d\n", library_answer());
  EXPECT_EQ(library_answer(), EXPECTED_ANSWER);
  return guest_result();
}
