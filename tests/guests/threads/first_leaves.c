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
  char state = '?';
  for (int tries = 0; tries < 400 && state != 'Z';
       tries++) {  // the join may end a little before the thread does
    FILE* file = fopen(path, "r");
    if (file && fgets(line, sizeof line, file)) {
      char* end = strrchr(line, ')');
      if (end) state = end[2];
    }
    if (file) fclose(file);
    usleep(5000);
  }
  printf("state %c\n", state);
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
