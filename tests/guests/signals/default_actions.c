// What ends a process: every signal's default action, blocked and ignored faults, a fault in the fault's
// handler, no room for the frame, abort.
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "guest.h"

static void fault_again(int number) {
  (void)number;
  *(volatile int*)16 = 1;
}
static void return_handler(int number) { (void)number; }

static void child(int how) {
  sigset_t set;
  sigfillset(&set);
  stack_t stack = {.ss_sp = (void*)0x10000, .ss_size = 64 << 10};
  switch (how) {
    case 0:
      *(volatile int*)16 = 1;
      break;
    case 1:
      __asm__ volatile("ud2");
      break;
    case 2:
      __asm__ volatile("xor %%ecx, %%ecx\n div %%ecx" : : : "rax", "rcx", "rdx");
      break;
    case 3:
      __asm__ volatile("int3");
      break;
    case 4:
      abort();
    case 5:
      sigprocmask(SIG_BLOCK, &set, NULL);
      *(volatile int*)16 = 1;
      break;
    case 6:
      signal(SIGSEGV, SIG_IGN);
      *(volatile int*)16 = 1;
      break;
    case 7:
      signal(SIGSEGV, fault_again);
      *(volatile int*)16 = 1;
      break;
    case 8:
      signal(SIGSEGV, return_handler);
      __asm__ volatile("mov $0x1000, %%esp\n push %%rax" : : : "memory");
      break;
    case 9: {
      struct sigaction action = {.sa_handler = return_handler, .sa_flags = SA_ONSTACK};
      sigaction(SIGUSR1, &action, NULL);
      sigaltstack(&stack, NULL);
      raise(SIGUSR1);
      break;
    }
    case 10:
      signal(SIGABRT, return_handler);
      abort();
    case 11:
      __asm__ volatile("hlt");
      break;
    case 12:
      signal(SIGILL, SIG_IGN);
      __asm__ volatile("ud2");
      break;
    case 13:
      sigprocmask(SIG_BLOCK, &set, NULL);
      raise(SIGTERM);
      sigprocmask(SIG_UNBLOCK, &set, NULL);
      break;
    default:
      break;
  }
  _exit(0);
}

static void report(const char* what, int number) {
  int status;
  REQUIRE(waitpid(-1, &status, 0) > 0);
  if (WIFSIGNALED(status)) {
    printf("%s %d: signal %d\n", what, number, WTERMSIG(status));
  } else if (WIFSTOPPED(status)) {
    printf("%s %d: stopped\n", what, number);
  } else {
    printf("%s %d: exit %d\n", what, number, WEXITSTATUS(status));
  }
}

int main(void) {
  struct rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  fflush(stdout);
  for (int number = 1; number < 32; number++) {
    if (number == SIGSTOP || number == SIGTSTP || number == SIGTTIN || number == SIGTTOU) continue;
    fflush(stdout);
    if (fork() == 0) {
      raise(number);
      _exit(0);
    }
    report("raise", number);
  }
  fflush(stdout);
  if (fork() == 0) {
    raise(SIGRTMIN + 4);
    _exit(0);
  }
  report("real-time", 4);
  for (int how = 0; how < 14; how++) {
    fflush(stdout);
    if (fork() == 0) child(how);
    report("case", how);
  }
  return guest_result();
}
