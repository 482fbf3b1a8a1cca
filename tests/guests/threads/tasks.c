// /proc/self/task lists our threads; their names, states and own stat files; nothing else is there.
#include <dirent.h>
#include <pthread.h>

#include "guest.h"

static pthread_barrier_t barrier;
static void* idle(void* argument) {
  char name[16];
  snprintf(name, sizeof name, "idle-%ld", (long)argument);
  pthread_setname_np(pthread_self(), name);
  pthread_barrier_wait(&barrier);
  pthread_barrier_wait(&barrier);
  return NULL;
}

static int compare(const void* a, const void* b) { return strcmp(a, b); }

static int list(int show) {
  DIR* folder = opendir("/proc/self/task");
  REQUIRE(folder != NULL);
  static char names[64][32];
  int count = 0;
  struct dirent* entry;
  while ((entry = readdir(folder))) {
    if (entry->d_name[0] == '.') continue;
    char path[300];
    snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
    FILE* file = fopen(path, "r");
    if (file == NULL) continue;
    if (fgets(names[count], 32, file)) count++;
    fclose(file);
  }
  closedir(folder);
  qsort(names, (size_t)count, 32, compare);
  for (int i = 0; show && i < count; i++) printf("%s", names[i]);
  return count;
}

int main(void) {
  EXPECT_EQ(list(1), 1);
  pthread_barrier_init(&barrier, NULL, 6);
  pthread_t threads[5];
  for (long i = 0; i < 5; i++) REQUIRE(pthread_create(&threads[i], NULL, idle, (void*)i) == 0);
  pthread_barrier_wait(&barrier);
  EXPECT_EQ(list(1), 6);
  FILE* status = fopen("/proc/self/status", "r");
  char line[256];
  while (fgets(line, sizeof line, status)) {
    if (strncmp(line, "Threads:", 8) == 0) printf("%s", line);
  }
  fclose(status);
  pthread_barrier_wait(&barrier);
  for (int i = 0; i < 5; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < 200 && list(0) != 1; i++) usleep(1000);  // the kernel may still be burying them
  EXPECT_EQ(list(1), 1);
  return guest_result();
}
