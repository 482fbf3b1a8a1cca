// A little of each kind of event: reads, clocks, emulated instructions, faults, signals, threads.
#include <cpuid.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

static volatile sig_atomic_t faults, alarms;
static volatile long shared;

static void on_signal(int number) { *(number == SIGFPE ? &faults : &alarms) += 1; }

static void* work(void* argument) {
  for (int i = 0; i < 2000; i++) shared++;
  return argument;
}

int main(void) {
  unsigned a, b, c, d;
  char random[8];
  struct timespec now;
  pthread_t thread;
  setvbuf(stdout, NULL, _IONBF, 0);
  if (getrandom(random, sizeof random, 0) != sizeof random) return 2;
  for (int i = 0; i < 8; i++) printf("%02x", (unsigned char)random[i]);
  clock_gettime(CLOCK_REALTIME, &now);
  printf(" %ld.%09ld %llu\n", (long)now.tv_sec, now.tv_nsec, (unsigned long long)__rdtsc());
  __cpuid(0, a, b, c, d);
  printf("%.4s%.4s%.4s %u\n", (char*)&b, (char*)&d, (char*)&c, a);
  signal(SIGFPE, on_signal);
  raise(SIGFPE);
  signal(SIGALRM, on_signal);
  struct itimerval soon = {{0, 0}, {0, 1000}};
  setitimer(ITIMER_REAL, &soon, NULL);
  while (alarms == 0) shared++;
  pthread_create(&thread, NULL, work, NULL);
  pthread_join(thread, NULL);
  int file = open("/proc/self/stat", O_RDONLY);
  char text[100] = "";
  if (read(file, text, 20) < 1) return 3;
  printf("%.20s %d %d %s\n", text, (int)faults, (int)alarms, shared > 0 ? "counted" : "");
  return 4;
}
