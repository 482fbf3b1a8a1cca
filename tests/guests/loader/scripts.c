// "#!" scripts through execve: with one argument, without, nested, with a script as interpreter, without
// interpreter.
// @recorded-part: child processes are not recorded
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "guest.h"

static void write_script(const char* name, const char* format, const char* interpreter) {
  FILE* file = fopen(name, "w");
  REQUIRE(file != NULL);
  fprintf(file, format, interpreter);
  fclose(file);
  REQUIRE(chmod(name, 0755) == 0);
}

static void run(const char* name, int expected_error) {
  printf("%s:\n", name);
  fflush(stdout);
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    char* arguments[] = {"ignored-name", "user argument", NULL};
    execv(name, arguments);
    _exit(errno == expected_error ? 77 : 78);
  }
  int status;
  REQUIRE(waitpid(child, &status, 0) == child);
  EXPECT(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), expected_error ? 77 : 5);
}

int main(int argc, char** argv) {
  (void)argc;
  (void)argv;
  const char* show = beside_me("show_arguments");
  write_script("./plain", "#!%s\nbody\n", show);
  write_script("./spaced", "#!  \t%s   one two  \nbody\n", show);
  write_script("./no-newline", "#!%s last", show);
  write_script("./nested", "#!./spaced three\n", "");
  write_script("./nested-deep", "#!./nested\n", "");
  write_script("./missing", "#!/no/such/interpreter\n", "");
  write_script("./empty", "#!\n", "");
  write_script("./to-folder", "#!/tmp\n", "");
  write_script("./loop", "#!./loop\n", "");
  run("./plain", 0);
  run("./spaced", 0);
  run("./no-newline", 0);
  run("./nested", 0);
  run("./nested-deep", 0);
  run("./missing", ENOENT);
  run("./empty", ENOEXEC);
  run("./to-folder", EACCES);
  run("./loop", ELOOP);
  return guest_result();
}
