// Memory shared between processes: anonymous, by memfd, System V segments, POSIX shared memory.
// @not-replayed: children, which are not recorded, store into shared memory
#include <fcntl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>

#include "guest.h"

enum { kPage = 4096, kReadWrite = PROT_READ | PROT_WRITE };

static void exchange(const char* what, volatile int* memory) {
  memory[0] = 1;
  fflush(stdout);
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    memory[1] = memory[0] + 41;
    __atomic_fetch_add(&memory[2], 5, __ATOMIC_SEQ_CST);
    _exit(0);
  }
  int status;
  REQUIRE(waitpid(child, &status, 0) == child);
  printf("%s: %d %d\n", what, memory[1], memory[2]);
  EXPECT_EQ(memory[1], 42);
  EXPECT_EQ(memory[2], 5);
}

int main(void) {
  exchange("anonymous", mmap(NULL, kPage, kReadWrite, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  int fd = memfd_create("shared", 0);
  REQUIRE(fd >= 0 && ftruncate(fd, kPage) == 0);
  exchange("memfd", mmap(NULL, kPage, kReadWrite, MAP_SHARED, fd, 0));

  int id = shmget(IPC_PRIVATE, 3 * kPage, IPC_CREAT | 0600);
  REQUIRE(id >= 0);
  int* segment = shmat(id, NULL, 0);
  REQUIRE(segment != (void*)-1);
  int* twin = shmat(id, NULL, SHM_RDONLY);
  REQUIRE(twin != (void*)-1);
  exchange("segment", segment);
  EXPECT_EQ(twin[1], 42);
  struct shmid_ds state;
  EXPECT_EQ(shmctl(id, IPC_STAT, &state), 0);
  EXPECT_EQ(state.shm_nattch, 2);
  EXPECT_EQ(state.shm_segsz, 3 * kPage);
  EXPECT_EQ(shmdt(twin), 0);
  EXPECT_ERROR(shmdt(twin), EINVAL);
  void* chosen = (void*)0x310000000000;
  EXPECT(shmat(id, chosen, 0) == chosen);
  EXPECT_EQ(((int*)chosen)[1], 42);
  EXPECT_ERROR((long)shmat(id, (char*)chosen + 1, 0), EINVAL);
  EXPECT_EQ(shmdt(chosen), 0);
  EXPECT_EQ(shmctl(id, IPC_RMID, NULL), 0);
  EXPECT_EQ(segment[1], 42);
  EXPECT_EQ(shmdt(segment), 0);
  EXPECT_ERROR((long)shmat(id, NULL, 0), EINVAL);

  char name[64];
  snprintf(name, sizeof name, "/guest-%d", getpid());
  fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
  REQUIRE(fd >= 0 && ftruncate(fd, kPage) == 0);
  EXPECT_EQ(shm_unlink(name), 0);
  exchange("shm_open", mmap(NULL, kPage, kReadWrite, MAP_SHARED, fd, 0));
  return guest_result();
}
