// system_calls KIND COUNT_IN_THOUSANDS: one kind of system call in a loop, as the C library makes it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { kBytes = 64, kReadsPerPass = 1024 };

static void fail(const char* what) {
  perror(what);
  exit(1);
}

static void call_getpid(long count) {
  const pid_t pid = getpid();
  for (long i = 0; i < count; ++i) {
    if (getpid() != pid) fail("getpid");
  }
}

static void call_clock_gettime(long count) {
  struct timespec last = {0, 0};
  for (long i = 0; i < count; ++i) {
    struct timespec now;
    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0) fail("clock_gettime");
    if (now.tv_sec < last.tv_sec) fail("time ran backwards");
    last = now;
  }
}

static void read_file(long count) {
  FILE* file = tmpfile();
  if (file == NULL) fail("tmpfile");
  const int descriptor = fileno(file);
  char buffer[kBytes];
  memset(buffer, 'x', sizeof buffer);
  for (int i = 0; i < kReadsPerPass; ++i) {
    if (write(descriptor, buffer, kBytes) != kBytes) fail("write");
  }
  for (long i = 0; i < count; ++i) {
    if (i % kReadsPerPass == 0 && lseek(descriptor, 0, SEEK_SET) != 0) fail("lseek");
    if (read(descriptor, buffer, kBytes) != kBytes) fail("read");
  }
}

static void use_pipe(long count) {
  int ends[2];
  if (pipe(ends) != 0) fail("pipe");
  char buffer[kBytes];
  memset(buffer, 'x', sizeof buffer);
  for (long i = 0; i < count; ++i) {
    if (write(ends[1], buffer, kBytes) != kBytes) fail("write");
    if (read(ends[0], buffer, kBytes) != kBytes) fail("read");
  }
}

int main(int argc, char** argv) {
  const char* kind = argc > 1 ? argv[1] : "";
  const long count = argc > 2 ? atol(argv[2]) * 1000 : 1000;
  if (strcmp(kind, "getpid") == 0) {
    call_getpid(count);
  } else if (strcmp(kind, "clock_gettime") == 0) {
    call_clock_gettime(count);
  } else if (strcmp(kind, "read") == 0) {
    read_file(count);
  } else if (strcmp(kind, "pipe") == 0) {
    use_pipe(count);
  } else {
    fputs("usage: system_calls getpid|clock_gettime|read|pipe [THOUSANDS]\n", stderr);
    return 2;
  }
  printf("%s %ld\n", kind, count);
  return 0;
}
