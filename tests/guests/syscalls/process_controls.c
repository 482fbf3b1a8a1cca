// prctl, personality and their like: what is set reads back; what is unknown is refused.
#include <signal.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "guest.h"

int main(void) {
  char name[16] = "";
  EXPECT_EQ(prctl(PR_SET_NAME, "a name that is too long"), 0);
  EXPECT_EQ(prctl(PR_GET_NAME, name), 0);
  printf("%s\n", name);
  int value = -1;
  EXPECT_EQ(prctl(PR_SET_PDEATHSIG, SIGUSR1), 0);
  EXPECT_EQ(prctl(PR_GET_PDEATHSIG, &value), 0);
  EXPECT_EQ(value, SIGUSR1);
  EXPECT_EQ(prctl(PR_SET_PDEATHSIG, 0), 0);
  EXPECT_EQ(prctl(PR_GET_DUMPABLE), 1);
  EXPECT_EQ(prctl(PR_SET_DUMPABLE, 0), 0);
  EXPECT_EQ(prctl(PR_GET_DUMPABLE), 0);
  EXPECT_EQ(prctl(PR_SET_DUMPABLE, 1), 0);
  EXPECT_ERROR(prctl(PR_SET_DUMPABLE, 7), EINVAL);
  EXPECT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  EXPECT_EQ(prctl(PR_GET_CHILD_SUBREAPER, &value), 0);
  EXPECT_EQ(value, 1);
  EXPECT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
  EXPECT_EQ(prctl(PR_SET_TIMERSLACK, 12345), 0);
  EXPECT_EQ(prctl(PR_GET_TIMERSLACK), 12345);
  EXPECT_EQ(prctl(PR_GET_KEEPCAPS), 0);
  EXPECT(prctl(PR_CAPBSET_READ, 0) >= 0);
  EXPECT_EQ(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), 0);
  EXPECT_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  EXPECT_EQ(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), 1);
  EXPECT_EQ(prctl(PR_GET_SECCOMP), 0);
  EXPECT_ERROR(prctl(0x12345678, 0, 0, 0, 0), EINVAL);
  EXPECT_ERROR(prctl(PR_SET_NAME, 16), EFAULT);
  int before = personality(0xffffffff);
  EXPECT(before >= 0);
  EXPECT_EQ(personality((unsigned long)before | ADDR_NO_RANDOMIZE), before);
  EXPECT_EQ(personality(0xffffffff), before | ADDR_NO_RANDOMIZE);
  EXPECT_EQ(personality((unsigned long)before), before | ADDR_NO_RANDOMIZE);
  return guest_result();
}
