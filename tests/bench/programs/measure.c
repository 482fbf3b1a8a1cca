// Runs a command and measures it from outside:
//     measure RESULT_FILE REPEAT STDOUT_FILE COMMAND [ARGUMENT...]
// Runs COMMAND REPEAT times one after another with stdout in STDOUT_FILE and writes one line to RESULT_FILE:
//     wall_ns user_us system_us max_rss_kib status
// Times are sums over the runs; max_rss_kib is the largest of any process (ru_maxrss includes waited-for descendants,
// man 2 getrusage); status is the last wait status. A small static program, because ru_maxrss of a child starts at the
// size of the process that forked it.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static long long microseconds(struct timeval time) { return time.tv_sec * 1000000LL + time.tv_usec; }

static int run_once(const char* stdout_file, char** command, struct rusage* usage) {
  const pid_t child = fork();
  if (child < 0) {
    perror("fork");
    exit(1);
  }
  if (child == 0) {
    const int out = open(stdout_file, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (out < 0 || dup2(out, 1) < 0) _exit(126);
    close(out);
    execvp(command[0], command);
    perror(command[0]);
    _exit(127);
  }
  int status = 0;
  if (wait4(child, &status, 0, usage) != child) {
    perror("wait4");
    exit(1);
  }
  return status;
}

int main(int argc, char** argv) {
  if (argc < 5) {
    fputs("usage: measure RESULT_FILE REPEAT STDOUT_FILE COMMAND [ARGUMENT...]\n", stderr);
    return 2;
  }
  long long user = 0;
  long long sys = 0;
  long max_rss = 0;
  int status = 0;
  const int repeat = atoi(argv[2]);
  const long long begin = now_ns();
  for (int i = 0; i < repeat && status == 0; ++i) {
    struct rusage usage;
    status = run_once(argv[3], argv + 4, &usage);
    user += microseconds(usage.ru_utime);
    sys += microseconds(usage.ru_stime);
    if (usage.ru_maxrss > max_rss) max_rss = usage.ru_maxrss;
  }
  const long long wall = now_ns() - begin;
  FILE* result = fopen(argv[1], "w");
  if (result == NULL) {
    perror(argv[1]);
    return 1;
  }
  fprintf(result, "%lld %lld %lld %ld %d\n", wall, user, sys, max_rss, status);
  return fclose(result) == 0 ? 0 : 1;
}
