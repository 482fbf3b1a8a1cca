// Handlers on alternate stacks of exactly the size the system asks for, and on thread stacks of the smallest
// size.
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <sys/auxv.h>

#include "guest.h"

static volatile int calls;
static void handler(int number) {
  (void)number;
  calls++;
}

static void* small(void* argument) {
  for (int i = 0; i < 20; i++) raise(SIGUSR2);
  return argument;
}

int main(void) {
  size_t size = getauxval(AT_MINSIGSTKSZ);
  EXPECT(size >= 1000 && size < 100000);
  size += 512;  // room for the handler itself
  stack_t stack = {.ss_sp = malloc(size), .ss_size = size};
  EXPECT_EQ(sigaltstack(&stack, NULL), 0);
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
  sigaction(SIGUSR1, &action, NULL);
  sigaction(SIGUSR2, &action, NULL);
  for (int i = 0; i < 100; i++) raise(SIGUSR1);
  EXPECT_EQ(calls, 100);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  EXPECT_EQ(pthread_attr_setstacksize(&attributes, (size_t)sysconf(_SC_THREAD_STACK_MIN)), 0);
  pthread_t thread;
  REQUIRE(pthread_create(&thread, &attributes, small, NULL) == 0);
  REQUIRE(pthread_join(thread, NULL) == 0);
  EXPECT_EQ(calls, 120);
  printf("%d\n", calls);
  return guest_result();
}
