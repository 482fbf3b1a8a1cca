// fexecve and execveat: by descriptor, relative to a folder, from a memfd, a script by descriptor, refusals;
// what /proc/self/exe and the name are then.
// @recorded-part: child processes are not recorded
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "guest.h"

extern char** environ;

static void finish(pid_t child, const char* what, int expected) {
  int status;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  printf("%s: %x\n", what, (unsigned)status);
  EXPECT_EQ(status, expected);
}

int main(void) {
  char helper[4096], folder[4096];
  snprintf(helper, sizeof helper, "%s", beside_me("report"));
  strcpy(folder, helper);
  *strrchr(folder, '/') = 0;
  char* arguments[] = {"report", "11", NULL};
  int fd = open(helper, O_RDONLY | O_CLOEXEC);
  int path_only = open(helper, O_PATH | O_CLOEXEC);
  int directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  REQUIRE(fd >= 0 && path_only >= 0 && directory >= 0);
  int memory = memfd_create("program", MFD_CLOEXEC);
  REQUIRE(memory >= 0);
  struct stat status;
  fstat(fd, &status);
  off_t offset = 0;
  while (offset < status.st_size)
    REQUIRE(sendfile(memory, fd, &offset, (size_t)(status.st_size - offset)) > 0);
  pid_t child;
  for (int i = 0; i < 6; i++) {
    fflush(stdout);
    child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      switch (i) {
        case 0:
          fexecve(fd, arguments, environ);
          break;
        case 1:
          fexecve(path_only, arguments, environ);
          break;
        case 2:
          syscall(SYS_execveat, directory, "report", arguments, environ, 0);
          break;
        case 3:
          fexecve(memory, arguments, environ);
          break;
        case 4:
          syscall(SYS_execveat, AT_FDCWD, helper, arguments, environ, 0);
          break;
        case 5:
          syscall(SYS_execveat, fd, "", arguments, environ, AT_EMPTY_PATH);
          break;
      }
      _exit(99);
    }
    finish(child, "by descriptor", 11 << 8);
  }
  EXPECT_ERROR(syscall(SYS_execveat, fd, "", arguments, environ, 0), ENOENT);
  EXPECT_ERROR(syscall(SYS_execveat, 999, "report", arguments, environ, 0), EBADF);
  EXPECT_ERROR(syscall(SYS_execveat, fd, "report", arguments, environ, 0), ENOTDIR);
  EXPECT_ERROR(syscall(SYS_execveat, directory, "report", arguments, environ, 0x100000), EINVAL);
  EXPECT_EQ(symlink(helper, "link"), 0);
  EXPECT_ERROR(syscall(SYS_execveat, AT_FDCWD, "link", arguments, environ, AT_SYMLINK_NOFOLLOW), ELOOP);

  // A script: its interpreter opens /dev/fd/N, so the descriptor must stay open.
  FILE* script = fopen("script", "w");
  fprintf(script, "#!/bin/sh\necho script ran; exit 12\n");
  fclose(script);
  chmod("script", 0755);
  int script_fd = open("script", O_RDONLY);
  fflush(stdout);
  child = fork();
  if (child == 0) {
    fexecve(script_fd, arguments, environ);
    _exit(99);
  }
  finish(child, "script", 12 << 8);
  fcntl(script_fd, F_SETFD, FD_CLOEXEC);
  EXPECT_ERROR(fexecve(script_fd, arguments, environ), ENOENT);
  return guest_result();
}
