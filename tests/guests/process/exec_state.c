// What an execution keeps (pid, mask, pending and ignored signals, descriptors, folder, umask, limits,
// timers, priority) and what it resets (handlers, alternate stack, mappings, name).
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>

#include "guest.h"

static void handler(int number) { (void)number; }

int main(int argc, char** argv) {
  if (argc == 1) {
    signal(SIGUSR1, handler);
    signal(SIGUSR2, SIG_IGN);
    signal(SIGCHLD, SIG_IGN);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGRTMIN + 3);
    sigprocmask(SIG_BLOCK, &set, NULL);
    raise(SIGTERM);
    union sigval value = {.sival_int = 55};
    sigqueue(getpid(), SIGRTMIN + 3, value);
    stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
    sigaltstack(&stack, NULL);
    prctl(PR_SET_NAME, "other name");
    umask(0125);
    mkdir("deeper", 0700);
    REQUIRE(chdir("deeper") == 0);
    struct rlimit limit = {123456, 234567};
    setrlimit(RLIMIT_FSIZE, &limit);
    setpriority(PRIO_PROCESS, 0, 3);
    struct itimerval timer = {{0, 0}, {1000, 0}};
    setitimer(ITIMER_REAL, &timer, NULL);
    char* place = mmap((void*)0x320000000000, 4096, PROT_READ,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    REQUIRE(place == (char*)0x320000000000);
    char pid[32];
    snprintf(pid, sizeof pid, "%d", getpid());
    setenv("KEPT", "environment", 1);
    char* arguments[] = {argv[0], pid, NULL};
    execv("/proc/self/exe", arguments);
    REQUIRE(!"execv returned");
  }
  EXPECT_EQ(atoi(argv[1]), getpid());
  EXPECT_EQ(gettid(), getpid());
  struct sigaction action;
  sigaction(SIGUSR1, NULL, &action);
  EXPECT(action.sa_handler == SIG_DFL);
  sigaction(SIGUSR2, NULL, &action);
  EXPECT(action.sa_handler == SIG_IGN);
  sigset_t mask, pending;
  sigprocmask(SIG_BLOCK, NULL, &mask);
  sigpending(&pending);
  printf("blocked %d %d %d, pending %d %d\n", sigismember(&mask, SIGTERM), sigismember(&mask, SIGRTMIN + 3),
         sigismember(&mask, SIGUSR1), sigismember(&pending, SIGTERM), sigismember(&pending, SIGRTMIN + 3));
  siginfo_t info;
  struct timespec zero = {0, 0};
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGRTMIN + 3);
  EXPECT_EQ(sigtimedwait(&set, &info, &zero), SIGRTMIN + 3);
  EXPECT_EQ(info.si_value.sival_int, 55);
  stack_t stack;
  sigaltstack(NULL, &stack);
  EXPECT_EQ(stack.ss_flags, SS_DISABLE);
  char name[16];
  prctl(PR_GET_NAME, name);
  // Under the engine the name is the file's, natively the last part of the path given.
  printf("name %s, umask %o\n", strcmp(name, "other name") != 0 ? "renewed" : name, umask(0));
  char folder[4096];
  EXPECT(getcwd(folder, sizeof folder) && strcmp(folder + strlen(folder) - 7, "/deeper") == 0);
  struct rlimit limit;
  getrlimit(RLIMIT_FSIZE, &limit);
  EXPECT(limit.rlim_cur == 123456 && limit.rlim_max == 234567);
  EXPECT_EQ(getpriority(PRIO_PROCESS, 0), 3);
  struct itimerval timer;
  getitimer(ITIMER_REAL, &timer);
  EXPECT(timer.it_value.tv_sec > 900);
  unsigned char state;
  EXPECT_ERROR(mincore((void*)0x320000000000, 4096, &state), ENOMEM);
  EXPECT(getenv("KEPT") && strcmp(getenv("KEPT"), "environment") == 0);
  return guest_result();
}
