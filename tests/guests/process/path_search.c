// execvp's search along PATH: over folders where the name is missing, not executable or a folder itself; a
// text without
// "#!" runs as a shell script; the last error that matters is reported.
// @recorded-part: child processes are not recorded
#include <sys/stat.h>
#include <sys/wait.h>

#include "guest.h"

static void make(const char* path, const char* text, mode_t mode) {
  FILE* file = fopen(path, "w");
  REQUIRE(file != NULL);
  fputs(text, file);
  fclose(file);
  REQUIRE(chmod(path, mode) == 0);
}

static void run(const char* path, const char* name) {
  fflush(stdout);
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    setenv("PATH", path, 1);
    execlp(name, name, "argument", (char*)NULL);
    printf("%s: %s\n", name, strerrorname_np(errno));
    fflush(stdout);
    _exit(50);
  }
  int status;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  printf("status %d\n", WEXITSTATUS(status));
}

int main(void) {
  mkdir("a", 0755), mkdir("b", 0755), mkdir("c", 0755), mkdir("d", 0755);
  mkdir("a/tool", 0755);
  make("b/tool", "not executable", 0644);
  make("c/tool", "#!/bin/sh\necho c runs with $1; exit 7\n", 0755);
  make("d/tool", "echo no interpreter line, $1; exit 8\n", 0755);
  make("b/only-here", "not executable", 0644);
  make("d/broken", "#!/no/such/interpreter\n", 0755);
  run("/none:a:b:c:d", "tool");
  run("d:c", "tool");
  run("a:b", "tool");
  run("a:c:/none", "missing");
  run("b:/none", "only-here");
  run("", "tool");
  run("d", "broken");
  run("c", "./d/tool");
  return guest_result();
}
