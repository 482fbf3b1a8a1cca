// A SIGSEGV handler that mends what it was called for, many times.
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>

static char* pages;
static int faults;

static void on_fault(int number, siginfo_t* info, void* context) {
  (void)number;
  (void)context;
  faults++;
  mprotect((void*)((unsigned long)info->si_addr & ~4095ul), 4096, PROT_READ | PROT_WRITE);
}

int main(void) {
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
  sigaction(SIGSEGV, &action, NULL);
  pages = mmap(NULL, 200 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (int i = 0; i < 200; i++) pages[i * 4096 + i] = (char)i;
  int sum = 0;
  for (int i = 0; i < 200; i++) sum += pages[i * 4096 + i];
  printf("%d faults, sum %d\n", faults, sum);
  return 0;
}
