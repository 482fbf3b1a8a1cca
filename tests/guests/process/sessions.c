// Sessions, process groups and a terminal: a pseudo-terminal with a child that has it as controlling
// terminal; modes, echo, window size, the interrupt key, foreground groups, the hang-up.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>

#include "guest.h"

static volatile sig_atomic_t caught;
static void handler(int number) { caught = number; }

static int master;

static void expect_text(const char* text) {
  static char got[1024];  // what came and was not yet expected
  static size_t length;
  while (strstr(got, text) == NULL) {
    struct pollfd entry = {master, POLLIN, 0};
    if (poll(&entry, 1, 10000) != 1 || length >= sizeof got - 1) break;
    ssize_t count = read(master, got + length, sizeof got - 1 - length);
    if (count <= 0) break;
    length += (size_t)count;
    got[length] = 0;
  }
  printf("%s: %s\n", text, strstr(got, text) ? "seen" : "missing");
  char* found = strstr(got, text);
  EXPECT(found != NULL);
  if (found == NULL) return;
  found += strlen(text);
  length -= (size_t)(found - got);
  memmove(got, found, length + 1);
}

static void say(const char* text) { REQUIRE(write(1, text, strlen(text)) == (ssize_t)strlen(text)); }

static void child(const char* name) {
  EXPECT(setsid() == getpid());
  int terminal = open(name, O_RDWR);
  if (terminal < 0) _exit(1);
  dup2(terminal, 0), dup2(terminal, 1), dup2(terminal, 2);
  struct sigaction action = {.sa_handler = handler};
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGWINCH, &action, NULL);
  if (!isatty(0) || tcgetsid(0) != getpid() || tcgetpgrp(0) != getpid()) _exit(2);
  say("ready.");
  char line[64];
  ssize_t got = read(0, line, sizeof line);
  if (got != 6 || memcmp(line, "hello\n", 6) != 0) _exit(3);
  say("line.");
  while (caught != SIGINT) {
    if (read(0, line, sizeof line) >= 0) _exit(4);
  }
  sigset_t set, old;
  sigemptyset(&set);
  sigaddset(&set, SIGWINCH);
  sigprocmask(SIG_BLOCK, &set, &old);
  say("interrupted.");
  while (caught != SIGWINCH) sigsuspend(&old);
  sigprocmask(SIG_SETMASK, &old, NULL);
  struct winsize size;
  if (ioctl(0, TIOCGWINSZ, &size) != 0 || size.ws_row != 33 || size.ws_col != 77) _exit(5);
  say("resized.");
  struct termios raw;
  tcgetattr(0, &raw);
  cfmakeraw(&raw);
  tcsetattr(0, TCSANOW, &raw);
  say("raw.");
  if (read(0, line, 1) != 1 || line[0] != 3) _exit(6);  // the interrupt key is a byte now
  say("byte.");
  // A background group is stopped by reading; another foreground group.
  pid_t other = fork();
  if (other == 0) {
    setpgid(0, 0);
    if (read(0, line, 1) >= 0) _exit(1);
    _exit(1);
  }
  setpgid(other, other);
  int status;
  if (waitpid(other, &status, WUNTRACED) != other || !WIFSTOPPED(status) || WSTOPSIG(status) != SIGTTIN)
    _exit(7);
  kill(other, SIGKILL);
  waitpid(other, &status, 0);
  say("background.");
  signal(SIGHUP, SIG_DFL);
  for (;;) pause();
}

int main(void) {
  master = posix_openpt(O_RDWR | O_NOCTTY);
  REQUIRE(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
  char name[64];
  REQUIRE(ptsname_r(master, name, sizeof name) == 0);
  fflush(stdout);
  pid_t pid = fork();
  REQUIRE(pid >= 0);
  if (pid == 0) {
    close(master);
    child(name);
  }
  expect_text("ready.");
  EXPECT_EQ(write(master, "hello\n", 6), 6);
  expect_text("hello");
  expect_text("line.");
  EXPECT_EQ(write(master, "\003", 1), 1);
  expect_text("interrupted.");
  struct winsize size = {33, 77, 0, 0};
  EXPECT_EQ(ioctl(master, TIOCSWINSZ, &size), 0);
  expect_text("resized.");
  expect_text("raw.");
  EXPECT_EQ(write(master, "\003", 1), 1);
  expect_text("byte.");
  expect_text("background.");
  close(master);  // hang-up
  int status;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGHUP);

  // Groups without a terminal.
  pid = fork();
  if (pid == 0) {
    int bad = setsid() != getpid();
    bad += getpgrp() != getpid() || getsid(0) != getpid();
    bad += setsid() != -1 || errno != EPERM;
    bad += open("/dev/tty", O_RDWR) != -1;
    _exit(bad);
  }
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
  EXPECT_ERROR(setpgid(0x7ffffffe, 0), ESRCH);
  EXPECT_ERROR(tcgetpgrp(999), EBADF);
  return guest_result();
}
