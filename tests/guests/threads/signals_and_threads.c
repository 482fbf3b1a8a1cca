// Signals among threads: one for the process goes to a thread that does not block it, one for a thread to
// that thread, each thread's mask and alternate stack are its own, a waiting thread takes it by sigwait, a
// fault stays where it was.
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>

#include "guest.h"

static sem_t ready, taken;
static volatile pid_t handled_by;
static __thread sigjmp_buf back;
static __thread volatile int on_alternate;
static __thread char* alternate;

static void handler(int number) {
  (void)number;
  char local;
  handled_by = gettid();
  on_alternate = alternate && &local >= alternate && &local < alternate + 65536;
  sem_post(&taken);
}
static void on_fault(int number) {
  (void)number;
  siglongjmp(back, 1);
}

static pid_t open_thread;
static volatile int stop;
static void* unblocked(void* argument) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  alternate = malloc(65536);
  stack_t stack = {.ss_sp = alternate, .ss_size = 65536};
  EXPECT_EQ(sigaltstack(&stack, NULL), 0);
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
  open_thread = gettid();
  sem_post(&ready);
  while (!stop) usleep(1000);
  EXPECT(on_alternate);
  return argument;
}

static void* waiting(void* argument) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  int number = 0;
  sem_post(&ready);
  EXPECT_EQ(sigwait(&set, &number), 0);
  EXPECT_EQ(number, SIGUSR2);
  return argument;
}

static void* faulting(void* argument) {
  int count = 0;
  for (volatile int i = 0; i < 200; i++) {
    if (sigsetjmp(back, 1) == 0) {
      *(volatile int*)(uintptr_t)16 = 1;
    } else {
      count++;
    }
  }
  (void)argument;
  return (void*)(long)count;
}

int main(void) {
  sem_init(&ready, 0, 0);
  sem_init(&taken, 0, 0);
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK | SA_RESTART};
  sigaction(SIGUSR1, &action, NULL);
  signal(SIGSEGV, on_fault);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigaddset(&set, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  pthread_t open, other;
  REQUIRE(pthread_create(&open, NULL, unblocked, NULL) == 0);
  sem_wait(&ready);
  for (int i = 0; i < 20; i++) {
    handled_by = 0;
    EXPECT_EQ(kill(getpid(), SIGUSR1), 0);
    sem_wait(&taken);
    EXPECT_EQ(handled_by, open_thread);
  }
  EXPECT_EQ(pthread_kill(pthread_self(), SIGUSR1), 0);  // for us, and blocked here
  usleep(5000);
  sigset_t pending;
  sigpending(&pending);
  EXPECT(sigismember(&pending, SIGUSR1));
  EXPECT_ERROR(sem_trywait(&taken), EAGAIN);
  stop = 1;
  REQUIRE(pthread_join(open, NULL) == 0);
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
  EXPECT_EQ(handled_by, gettid());
  pthread_sigmask(SIG_BLOCK, &set, NULL);

  REQUIRE(pthread_create(&other, NULL, waiting, NULL) == 0);
  sem_wait(&ready);
  EXPECT_EQ(kill(getpid(), SIGUSR2), 0);
  REQUIRE(pthread_join(other, NULL) == 0);

  pthread_t threads[4];
  for (int i = 0; i < 4; i++) REQUIRE(pthread_create(&threads[i], NULL, faulting, NULL) == 0);
  for (int i = 0; i < 4; i++) {
    void* count;
    REQUIRE(pthread_join(threads[i], &count) == 0);
    EXPECT_EQ((long)count, 200);
  }
  printf("done\n");
  return guest_result();
}
