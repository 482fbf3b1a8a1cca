// System V messages and semaphores, POSIX message queues: with a child on the other side.
#include <fcntl.h>
#include <mqueue.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/wait.h>
#include <time.h>

#include "guest.h"

struct message {
  long kind;
  char text[64];
};

int main(void) {
  int queue = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
  int semaphores = semget(IPC_PRIVATE, 2, IPC_CREAT | 0600);
  REQUIRE(queue >= 0 && semaphores >= 0);
  fflush(stdout);
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    struct message out = {2, "second kind"};
    int bad = msgsnd(queue, &out, 12, 0) != 0;
    out.kind = 1;
    strcpy(out.text, "first kind");
    bad += msgsnd(queue, &out, 11, 0) != 0;
    struct sembuf up = {0, 2, 0};
    bad += semop(semaphores, &up, 1) != 0;
    _exit(bad);
  }
  struct message in;
  EXPECT_EQ(msgrcv(queue, &in, sizeof in.text, 1, 0), 11);
  printf("%s\n", in.text);
  EXPECT_EQ(msgrcv(queue, &in, sizeof in.text, 0, 0), 12);
  printf("%s\n", in.text);
  EXPECT_ERROR(msgrcv(queue, &in, sizeof in.text, 0, IPC_NOWAIT), ENOMSG);
  struct sembuf down[2] = {{0, -1, 0}, {1, 0, 0}};
  EXPECT_EQ(semop(semaphores, down, 2), 0);
  EXPECT_EQ(semctl(semaphores, 0, GETVAL), 1);
  struct timespec brief = {0, 5000000};
  down[0].sem_op = -5;
  EXPECT_ERROR(semtimedop(semaphores, down, 1, &brief), EAGAIN);
  int status;
  EXPECT(waitpid(child, &status, 0) == child && status == 0);
  EXPECT_EQ(msgctl(queue, IPC_RMID, NULL), 0);
  EXPECT_EQ(semctl(semaphores, 0, IPC_RMID), 0);

  char name[64];
  snprintf(name, sizeof name, "/guest-%d", getpid());
  struct mq_attr attributes = {.mq_maxmsg = 4, .mq_msgsize = 32};
  mqd_t posix = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &attributes);
  if (posix == (mqd_t)-1 && (errno == ENOSYS || errno == EACCES)) {
    EXPECT(!"no POSIX queues here");
  }
  mq_unlink(name);
  EXPECT_EQ(mq_send(posix, "low", 4, 1), 0);
  EXPECT_EQ(mq_send(posix, "high", 5, 9), 0);
  char text[32];
  unsigned priority;
  EXPECT_EQ(mq_receive(posix, text, sizeof text, &priority), 5);
  printf("%s %u\n", text, priority);
  EXPECT_EQ(mq_receive(posix, text, sizeof text, &priority), 4);
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  EXPECT_ERROR(mq_timedreceive(posix, text, sizeof text, &priority, &now), ETIMEDOUT);
  mq_close(posix);
  return guest_result();
}
