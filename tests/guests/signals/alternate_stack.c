// sigaltstack: used when asked for, its state as seen from inside, left by siglongjmp, SS_AUTODISARM,
// refusals.
#include <setjmp.h>
#include <signal.h>
#include <ucontext.h>

#include "guest.h"

#ifndef SS_AUTODISARM
#define SS_AUTODISARM (1U << 31)
#endif

static char stack[64 << 10], other[64 << 10];
static sigjmp_buf back;
static int step;

static int on_stack(const void* address, const char* area) {
  return (const char*)address >= area && (const char*)address < area + sizeof stack;
}

static void handler(int number, siginfo_t* info, void* context) {
  (void)info;
  char local;
  stack_t now;
  REQUIRE(sigaltstack(NULL, &now) == 0);
  ucontext_t* state = context;
  printf("signal %d: on the stack %d, flags %x, in the context: base %d, size %zu, flags %x\n", number,
         on_stack(&local, stack), (unsigned)now.ss_flags, state->uc_stack.ss_sp == stack,
         state->uc_stack.ss_size, (unsigned)state->uc_stack.ss_flags);
  if (step == 1) {
    stack_t replacement = {.ss_sp = other, .ss_size = sizeof other};
    EXPECT_ERROR(sigaltstack(&replacement, NULL), EPERM);
  }
  if (step == 2) siglongjmp(back, 1);
  if (step == 3) {
    stack_t replacement = {.ss_sp = other, .ss_size = sizeof other};
    EXPECT_EQ(sigaltstack(&replacement, NULL), 0);  // disarmed: may be replaced
  }
  if (step == 4) raise(SIGUSR2);  // nested, stays on the stack
}

static void nested(int number) {
  (void)number;
  char local;
  printf("nested: on the stack %d\n", on_stack(&local, stack));
}

int main(void) {
  stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack}, old;
  REQUIRE(sigaltstack(NULL, &old) == 0);
  EXPECT_EQ(old.ss_flags, SS_DISABLE);
  REQUIRE(sigaltstack(&alternate, NULL) == 0);
  REQUIRE(sigaltstack(NULL, &old) == 0);
  EXPECT(old.ss_sp == stack && old.ss_size == sizeof stack && old.ss_flags == 0);
  struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  REQUIRE(sigaction(SIGUSR1, &action, NULL) == 0);
  action.sa_flags = SA_SIGINFO;
  REQUIRE(sigaction(SIGURG, &action, NULL) == 0);
  struct sigaction plain = {.sa_handler = nested, .sa_flags = SA_ONSTACK};
  REQUIRE(sigaction(SIGUSR2, &plain, NULL) == 0);

  raise(SIGUSR1);
  raise(SIGURG);  // without SA_ONSTACK
  step = 1;
  raise(SIGUSR1);
  for (int i = 0; i < 3; i++) {
    step = 2;
    if (sigsetjmp(back, 1) == 0) raise(SIGUSR1);
  }
  step = 4;
  raise(SIGUSR1);
  alternate.ss_flags = (int)SS_AUTODISARM;
  REQUIRE(sigaltstack(&alternate, NULL) == 0);
  step = 3;
  raise(SIGUSR1);
  REQUIRE(sigaltstack(NULL, &old) == 0);
  EXPECT(old.ss_sp == stack);  // sigreturn armed the first one again
  printf("flags after: %x\n", (unsigned)old.ss_flags);

  alternate.ss_flags = 0;
  alternate.ss_size = 100;
  EXPECT_ERROR(sigaltstack(&alternate, NULL), ENOMEM);
  alternate.ss_flags = 64;
  EXPECT_ERROR(sigaltstack(&alternate, NULL), EINVAL);
  EXPECT_ERROR(sigaltstack((stack_t*)16, NULL), EFAULT);
  alternate.ss_flags = SS_DISABLE;
  EXPECT_EQ(sigaltstack(&alternate, NULL), 0);
  step = 0;
  raise(SIGUSR1);  // disabled: on the normal stack
  return guest_result();
}
