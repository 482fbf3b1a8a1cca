// /proc/self/stat and status: identity, name, threads, code and stack bounds, signal masks.
#include <signal.h>
#include <sys/wait.h>

#include "guest.h"

static char text[65536];

static void read_file(const char* path) {
  FILE* file = fopen(path, "rb");
  REQUIRE(file != NULL);
  text[fread(text, 1, sizeof text - 1, file)] = 0;
  fclose(file);
}

static const char* status_line(const char* name) {
  static char line[256];
  char* found = text;
  size_t length = strlen(name);
  while (found && strncmp(found, name, length) != 0) {
    found = strchr(found, '\n');
    if (found) found++;
  }
  REQUIRE(found != NULL);
  sscanf(found + length, " %255[^\n]", line);
  return line;
}

static void handler(int number) { (void)number; }

int main(int argc, char** argv) {
  (void)argc;
  read_file("/proc/self/stat");
  char* end = strrchr(text, ')');
  char* start = strchr(text, '(');
  REQUIRE(start != NULL && end != NULL);
  EXPECT_EQ(atoi(text), getpid());
  printf("name %.*s\n", (int)(end - start + 1), start);
  unsigned long long field[53] = {0};
  char state = 0;
  char* rest = end + 2;
  for (int i = 3; i <= 52; i++) {
    char* word = strtok(i == 3 ? rest : NULL, " \n");
    REQUIRE(word != NULL);
    if (i == 3) state = word[0];
    field[i] = strtoull(word, NULL, 10);
  }
  printf("state %c, threads %llu\n", state, field[20]);
  EXPECT_EQ(field[4], getppid());
  EXPECT_EQ(field[5], getpgrp());
  EXPECT_EQ(field[6], getsid(0));
  EXPECT(field[26] <= (uintptr_t)main && (uintptr_t)main < field[27]);
  EXPECT((uintptr_t)&state <= field[28] && field[28] - (uintptr_t)&state < 8 << 20);
  EXPECT(field[48] == (uintptr_t)argv[0]);
  EXPECT(field[49] > field[48]);
  EXPECT(field[50] >= field[49]);

  struct sigaction action = {.sa_handler = handler};
  sigaction(SIGUSR1, &action, NULL);
  sigaction(SIGSEGV, &action, NULL);
  action.sa_handler = SIG_IGN;
  sigaction(SIGUSR2, &action, NULL);
  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, SIGTERM);
  sigprocmask(SIG_BLOCK, &mask, NULL);
  read_file("/proc/self/status");
  EXPECT_EQ(atoi(status_line("Pid:")), getpid());
  EXPECT_EQ(atoi(status_line("Tgid:")), getpid());
  EXPECT_EQ(atoi(status_line("PPid:")), getppid());
  EXPECT_EQ(atoi(status_line("TracerPid:")), 0);
  printf("Name %s\n", status_line("Name:"));
  printf("Threads %s\n", status_line("Threads:"));
  printf("SigBlk %s\n", status_line("SigBlk:"));
  printf("SigCgt %s\n", status_line("SigCgt:"));
  EXPECT(strtoull(status_line("SigIgn:"), NULL, 16) & (1ull << (SIGUSR2 - 1)));
  EXPECT_EQ(atoi(status_line("Seccomp:")), 0);
  return guest_result();
}
