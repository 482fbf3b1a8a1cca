// The first thread ends by pthread_exit; the process lives until the last one does, and its status is that of
// exit.
// @exit: 6
#include <pthread.h>

#include "guest.h"

static pthread_t first;

static void* last(void* argument) {
  EXPECT_EQ(pthread_join(first, NULL), 0);
  printf("the first thread has left\n");
  // /proc shows a leader that is a zombie.
  char path[64], line[256] = "";
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", getpid());
  FILE* file = fopen(path, "r");
  if (file) {
    if (fgets(line, sizeof line, file)) {
      char* end = strrchr(line, ')');
      printf("state %c\n", end ? end[2] : '?');
    }
    fclose(file);
  }
  fflush(stdout);
  exit(guest_result() ? 1 : 6);
  return argument;
}

int main(void) {
  first = pthread_self();
  pthread_t thread;
  REQUIRE(pthread_create(&thread, NULL, last, NULL) == 0);
  pthread_exit(NULL);
}
