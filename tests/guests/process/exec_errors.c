// Executions that fail leave the caller untouched: for every reason there is, with handlers, threads,
// mappings and descriptors still as they were.
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "guest.h"

static volatile int signals, running = 1;
static volatile long work;
static void handler(int number) {
  (void)number;
  signals++;
}
static void* worker(void* argument) {
  while (running) work++;
  return argument;
}

static void make(const char* path, const void* bytes, size_t size, mode_t mode) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0700);
  REQUIRE(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
  close(fd);
  REQUIRE(chmod(path, mode) == 0);
}

int main(int argc, char** argv) {
  if (argc > 1) {
    printf("executed at last\n");
    return 0;
  }
  signal(SIGUSR1, handler);
  pthread_t thread;
  REQUIRE(pthread_create(&thread, NULL, worker, NULL) == 0);
  char* page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  strcpy(page, "kept");
  int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

  mkdir("folder", 0755);
  make("plain", "text", 4, 0755);
  make("empty", "", 0, 0755);
  make("forbidden", "#!/bin/sh\n", 10, 0644);
  make("no-interpreter", "#!/no/such/file\n", 16, 0755);
  unsigned char elf[4096];
  int self = open("/proc/self/exe", O_RDONLY);
  REQUIRE(read(self, elf, sizeof elf) == sizeof elf);
  close(self);
  make("elf-header-only", elf, 40, 0755);
  unsigned char changed[4096];
  memcpy(changed, elf, sizeof elf);
  changed[18] = 0xb7;  // another machine
  make("elf-other-machine", changed, sizeof changed, 0755);
  memcpy(changed, elf, sizeof elf);
  changed[16] = 1;  // an object file
  make("elf-object", changed, sizeof changed, 0755);
  memcpy(changed, elf, sizeof elf);
  changed[54] = 7;  // wrong size of program headers
  make("elf-bad-headers", changed, sizeof changed, 0755);
  symlink("round", "round");
  char long_name[5000];
  memset(long_name, 'n', sizeof long_name - 1);
  long_name[sizeof long_name - 1] = 0;
  static char* many[2] = {0};
  size_t huge = 10 << 20;
  many[0] = malloc(huge);
  memset(many[0], 'x', huge - 1);
  many[0][huge - 1] = 0;

  static const struct {
    const char* path;
    int error;
  } kCases[] = {{"nothing", ENOENT},
                {"", ENOENT},
                {"folder", EACCES},
                {"forbidden", EACCES},
                {"plain", ENOEXEC},
                {"empty", ENOEXEC},
                {"no-interpreter", ENOENT},
                {"plain/x", ENOTDIR},
                {"round", ELOOP},
                {"elf-header-only", ENOEXEC},
                {"elf-other-machine", ENOEXEC},
                {"elf-object", ENOEXEC},
                {"elf-bad-headers", ENOEXEC},
                {"/dev/null", EACCES}};
  for (int round = 0; round < 3; round++) {
    for (size_t i = 0; i < sizeof kCases / sizeof kCases[0]; i++) {
      char* arguments[] = {"x", NULL};
      EXPECT_ERROR(execv(kCases[i].path, arguments), kCases[i].error);
      long before = work;
      for (int k = 0; k < 1000 && work == before; k++) usleep(100);
      EXPECT(work != before);  // the other thread lives
    }
    char* arguments[] = {"x", NULL};
    EXPECT_ERROR(execv(long_name, arguments), ENAMETOOLONG);
    EXPECT_ERROR(execv("/proc/self/exe", many), E2BIG);
    EXPECT_ERROR(execv((char*)16, arguments), EFAULT);
    EXPECT_ERROR(execv("/proc/self/exe", (char**)16), EFAULT);
    raise(SIGUSR1);
    EXPECT_EQ(signals, round + 1);
    EXPECT(strcmp(page, "kept") == 0);
    EXPECT_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
  }
  running = 0;
  pthread_join(thread, NULL);
  int writer = open("busy", O_RDWR | O_CREAT, 0700);
  make("busy", elf, sizeof elf, 0700);
  char* arguments[] = {argv[0], "again", NULL};
  int result = execv("./busy", arguments);
  printf("busy: %d %s\n", result, strerrorname_np(errno));
  close(writer);
  if (guest_result() != 0) return 1;
  execv("/proc/self/exe", arguments);
  return 99;
}
