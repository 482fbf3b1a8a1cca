// Signals that descriptors send: SIGIO by F_SETOWN and O_ASYNC, a chosen one by F_SETSIG with the descriptor
// in the information, SIGURG for urgent data, SIGXFSZ at the file size limit.
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "guest.h"

static volatile sig_atomic_t calls[65];
static volatile int last_fd;
static void handler(int number, siginfo_t* info, void* context) {
  (void)context;
  calls[number]++;
  last_fd = info->si_fd;
}

static void wait_for(int number) {
  sigset_t set, old;
  sigemptyset(&set);
  sigaddset(&set, number);
  sigprocmask(SIG_BLOCK, &set, &old);
  while (calls[number] == 0) sigsuspend(&old);
  sigprocmask(SIG_SETMASK, &old, NULL);
}

int main(void) {
  struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART};
  sigaction(SIGIO, &action, NULL);
  sigaction(SIGURG, &action, NULL);
  sigaction(SIGXFSZ, &action, NULL);
  sigaction(SIGRTMIN + 2, &action, NULL);
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  EXPECT_EQ(fcntl(ends[0], F_SETOWN, getpid()), 0);
  EXPECT_EQ(fcntl(ends[0], F_GETOWN), getpid());
  EXPECT_EQ(fcntl(ends[0], F_SETFL, O_ASYNC | O_NONBLOCK), 0);
  REQUIRE(write(ends[1], "x", 1) == 1);
  wait_for(SIGIO);
  printf("SIGIO\n");
  EXPECT_EQ(fcntl(ends[0], F_SETSIG, SIGRTMIN + 2), 0);
  REQUIRE(write(ends[1], "y", 1) == 1);
  wait_for(SIGRTMIN + 2);
  EXPECT_EQ(last_fd, ends[0]);
  printf("F_SETSIG\n");

  int listener = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t length = sizeof address;
  REQUIRE(bind(listener, (struct sockaddr*)&address, sizeof address) == 0 && listen(listener, 1) == 0);
  REQUIRE(getsockname(listener, (struct sockaddr*)&address, &length) == 0);
  int client = socket(AF_INET, SOCK_STREAM, 0);
  REQUIRE(connect(client, (struct sockaddr*)&address, sizeof address) == 0);
  int server = accept(listener, NULL, NULL);
  REQUIRE(server >= 0);
  EXPECT_EQ(fcntl(server, F_SETOWN, getpid()), 0);
  EXPECT_EQ(send(client, "!", 1, MSG_OOB), 1);
  wait_for(SIGURG);
  char byte = 0;
  EXPECT_EQ(recv(server, &byte, 1, MSG_OOB), 1);
  EXPECT_EQ(byte, '!');
  printf("SIGURG\n");

  struct rlimit limit = {100, 100};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  int file = open("limited", O_RDWR | O_CREAT, 0600);
  char block[200] = {0};
  EXPECT_EQ(write(file, block, sizeof block), 100);
  EXPECT_ERROR(write(file, block, 1), EFBIG);
  EXPECT_EQ(calls[SIGXFSZ], 1);
  printf("SIGXFSZ\n");
  return guest_result();
}
