// An execution from a thread that is not the first: the process keeps its id, the new image has one thread,
// whatever the others were doing.
#include <pthread.h>

#include "guest.h"

static char** arguments;
static volatile unsigned work;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* compute(void* argument) {
  for (;;) work = work * 3 + 1;
  return argument;
}
static void* sleeper(void* argument) {
  for (;;) sleep(100);
  return argument;
}
static void* locker(void* argument) {
  pthread_mutex_lock(&mutex);
  return argument;
}
static void* executor(void* argument) {
  execv(arguments[0], arguments);  // /proc/self/exe is gone when the first thread has ended
  exit(98);
  return argument;
}

int main(int argc, char** argv) {
  int round = argc > 1 ? atoi(argv[1]) : 0;
  if (round > 0) {
    EXPECT_EQ(atoi(argv[2]), getpid());
    EXPECT_EQ(gettid(), getpid());
    char line[256];
    FILE* status = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, status)) {
      if (strncmp(line, "Threads:", 8) == 0) EXPECT_EQ(atoi(line + 8), 1);
    }
    fclose(status);
    printf("round %d\n", round);
    if (round == 10 || guest_failures) return guest_result();
  }
  static char number[32], pid[32];  // they outlive main's frame
  snprintf(number, sizeof number, "%d", round + 1);
  snprintf(pid, sizeof pid, "%d", getpid());
  static char* next[4];
  next[0] = argv[0], next[1] = number, next[2] = pid;
  arguments = next;
  fflush(stdout);
  pthread_mutex_lock(&mutex);
  pthread_t thread;
  for (int i = 0; i < 2; i++) {
    REQUIRE(pthread_create(&thread, NULL, compute, NULL) == 0);
    REQUIRE(pthread_create(&thread, NULL, sleeper, NULL) == 0);
    REQUIRE(pthread_create(&thread, NULL, locker, NULL) == 0);
  }
  if (round % 2) usleep(2000);
  REQUIRE(pthread_create(&thread, NULL, executor, NULL) == 0);
  if (round % 3 == 0) pthread_join(thread, NULL);
  if (round % 3 == 1) pthread_exit(NULL);
  for (;;) work = work * 5 + 1;
}
