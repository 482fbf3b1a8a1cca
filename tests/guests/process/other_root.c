// After chroot into an empty folder: a static program copied there executes, /proc and the old tree are not
// there.
// @needs: root
// @recorded-part: child processes are not recorded
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "guest.h"

int main(int argc, char** argv) {
  if (argc > 1) {
    EXPECT_ERROR(open("/proc/self/maps", O_RDONLY), ENOENT);
    EXPECT_EQ(access("/program", X_OK), 0);
    pid_t child = fork();
    if (child == 0) {
      if (argc == 2) execl("/program", "program", "once", "more", (char*)NULL);
      _exit(3);
    }
    int status;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, argc == 2 ? 0 : 3 << 8);
    printf("inside %d\n", argc);
    fflush(stdout);
    return guest_failures ? 1 : 0;
  }
  REQUIRE(mkdir("root", 0755) == 0);
  int from = open("/proc/self/exe", O_RDONLY), to = open("root/program", O_WRONLY | O_CREAT, 0755);
  struct stat status;
  REQUIRE(from >= 0 && to >= 0 && fstat(from, &status) == 0);
  off_t offset = 0;
  while (offset < status.st_size) REQUIRE(sendfile(to, from, &offset, (size_t)(status.st_size - offset)) > 0);
  close(to);
  fflush(stdout);
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    if (chroot("root") != 0 || chdir("/") != 0) _exit(80);
    execl("/program", argv[0], "inside", (char*)NULL);
    _exit(81);
  }
  int result;
  EXPECT_EQ(waitpid(child, &result, 0), child);
  EXPECT_EQ(result, 0);
  return guest_result();
}
