// posix_spawn: a program, one that does not exist, by PATH, with file actions, process group, masks,
// defaults.
// @recorded-part: child processes are not recorded
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include "guest.h"

extern char** environ;
static char helper[4096];

static void wait_for(pid_t child, int expected) {
  int status;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, expected);
}

int main(void) {
  snprintf(helper, sizeof helper, "%s", beside_me("report"));
  fflush(stdout);
  pid_t child;
  char* arguments[] = {"report", "5", "plain", NULL};
  EXPECT_EQ(posix_spawn(&child, helper, NULL, NULL, arguments, environ), 0);
  wait_for(child, 5 << 8);
  EXPECT_EQ(posix_spawn(&child, "/no/such/program", NULL, NULL, arguments, environ), ENOENT);
  EXPECT_EQ(posix_spawn(&child, "/", NULL, NULL, arguments, environ), EACCES);
  EXPECT_ERROR(waitpid(-1, NULL, WNOHANG), ECHILD);  // failed ones leave no zombie

  char path[4200];
  snprintf(path, sizeof path, "/nowhere:%s", helper);
  *strrchr(path, '/') = 0;
  setenv("PATH", path, 1);
  EXPECT_EQ(posix_spawnp(&child, "report", NULL, NULL, arguments, environ), 0);
  wait_for(child, 5 << 8);
  EXPECT_EQ(posix_spawnp(&child, "no-such-name", NULL, NULL, arguments, environ), ENOENT);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "output", O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  posix_spawn_file_actions_addclose(&actions, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t mask, defaults;
  sigemptyset(&mask);
  sigaddset(&mask, SIGUSR1);
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  posix_spawnattr_setsigmask(&attributes, &mask);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  char* environment[] = {"MARK=given", NULL};
  arguments[1] = "9";
  EXPECT_EQ(posix_spawn(&child, helper, &actions, &attributes, arguments, environment), 0);
  wait_for(child, 9 << 8);
  FILE* output = fopen("output", "r");
  REQUIRE(output != NULL);
  char line[256] = "";
  EXPECT(fgets(line, sizeof line, output) != NULL);
  printf("%s", line);
  posix_spawn_file_actions_addopen(&actions, 5, "/no/such/file", O_RDONLY, 0);
  EXPECT_EQ(posix_spawn(&child, helper, &actions, NULL, arguments, environ), ENOENT);
  fflush(stdout);
  // Many at once.
  pid_t children[20];
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
  for (int i = 0; i < 20; i++)
    EXPECT_EQ(posix_spawn(&children[i], helper, &quiet, NULL, arguments, environ), 0);
  for (int i = 0; i < 20; i++) wait_for(children[i], 9 << 8);
  return guest_result();
}
