// system and popen: results, output, a command that does not exist, one that is killed, signals ignored
// meanwhile.
// @recorded-part: child processes are not recorded
#include <sys/wait.h>

#include "guest.h"

static void show(const char* command) {
  fflush(stdout);
  int status = system(command);
  printf("'%s': %x\n", command, (unsigned)status);
}

int main(void) {
  EXPECT(system(NULL) != 0);
  show("exit 3");
  show("echo output; exit 0");
  show("no-such-command-anywhere 2>/dev/null");
  show("kill -9 $$");
  show("for i in 1 2 3; do echo $((i * i)); done | sort -r | tr '\\n' ' '; echo");
  show("x=$(echo inner | sed s/inner/outer/); test $x = outer");
  show("(exit 4); echo $?; true && false || echo either");
  show("cat <<END | wc -l\na\nb\nEND");
  FILE* in = popen("printf 'one\\ntwo\\n'; exit 6", "r");
  REQUIRE(in != NULL);
  char line[64];
  while (fgets(line, sizeof line, in)) printf("read %s", line);
  EXPECT_EQ(pclose(in), 6 << 8);
  fflush(stdout);
  FILE* out = popen("cat; exit 2", "w");
  REQUIRE(out != NULL);
  fprintf(out, "written\n");
  EXPECT_EQ(pclose(out), 2 << 8);
  return guest_result();
}
