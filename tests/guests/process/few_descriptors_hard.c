// A hard limit of eight descriptors: two of them are the engine's, unless it has the right to raise the limit.
// @limits: nofile=8
// @recorded-differs: recording needs more descriptors than the limit leaves
// @not-replayed: there is no trace
#include <fcntl.h>

#include "guest.h"

int main(void) {
  int opened = 0;
  while (open("/dev/null", O_RDONLY) >= 0) opened++;
  EXPECT_EQ(errno, EMFILE);
  EXPECT(opened == 5 || opened == 3);
  return guest_result();
}
