// Functions for a debugger to call, and a run to leave.
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

int counter = 0, pid = 0;
volatile int watched = 0;
time_t seconds = 0;
int* shared = nullptr;
pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

struct Box {
  std::string label;
  int size;
  const char* name() const { return label.c_str(); }
  int add(int more) const { return size + more; }
};

int square(int x) {
  ++counter;
  return x * x;
}
double mix(double a, float b, int c) { return a * b + c; }
long double precise(long double a) { return a / 2; }
char* copy(const char* from) { return strdup(from); }
std::string twice(const std::string& s) { return s + s; }
int* place() { return &counter; }
const char* described(int n) {
  static char text[32];
  snprintf(text, sizeof text, "number %d", n);
  return text;
}
char* mapped(unsigned long bytes) {
  auto* p =
      static_cast<char*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  memset(p, 'm', bytes);
  p[4] = 0;
  if (munmap(p + bytes - 4096, 4096) != 0 || mprotect(p + 4096, 4096, PROT_READ) != 0) return nullptr;
  return p;
}
unsigned long allocated(int blocks) {
  unsigned long sum = 0;
  for (int i = 0; i < blocks; ++i) {
    auto* p = static_cast<char*>(malloc(10000));
    memset(p, 1, 10000);
    sum += static_cast<unsigned long>(p[9999]);
  }
  return sum;
}
int opened(const char* path) { return open(path, O_RDONLY) < 0 ? errno : 0; }
int forked() { return fork() < 0 ? errno : 0; }
int same_ids() { return getpid() == pid && getuid() == geteuid() ? 1 : 0; }
int still_then() {
  time_t now = time(nullptr);
  return now >= seconds && now < seconds + 600;
}
long elapsed(long ns) {
  timespec begin, end, wait = {ns / 1000000000, ns % 1000000000};
  clock_gettime(CLOCK_MONOTONIC, &begin);
  nanosleep(&wait, nullptr);
  clock_gettime(CLOCK_MONOTONIC, &end);
  return (end.tv_sec - begin.tv_sec) * 1000000000 + (end.tv_nsec - begin.tv_nsec);
}
int told(const char* what) { return static_cast<int>(write(2, what, strlen(what))); }
void crash() { *reinterpret_cast<volatile int*>(8) = 1; }
void spin() {
  told("spinning\n");
  for (volatile int i = 0;; ++i) {
  }
}
int raised() { return raise(SIGUSR1) + watched; }
void on_signal(int) { watched = 77; }
int locked() { return pthread_mutex_lock(&held); }
int waits_at_most() {
  timespec end;
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_sec += 3;
  return pthread_mutex_timedlock(&held, &end);
}

static void* hold(void* ready) {
  pthread_mutex_lock(&held);
  write(*static_cast<int*>(ready), "x", 1);
  for (;;) pause();
}

__attribute__((noinline)) int work(const char* name, int i) {
  counter += i;                               // work
  return static_cast<int>(strlen(name)) + i;  // worked
}

int main() {
  const char* names[] = {"a", "x", "b", "x", "c"};
  Box box{"a label that is longer than a short string", 5};
  signal(SIGUSR1, on_signal);
  shared = static_cast<int*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  *shared = 6;
  pid = getpid();
  seconds = time(nullptr);
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  int ends[2];
  pthread_t thread;
  char byte;
  if (pipe(ends) != 0 || pthread_create(&thread, nullptr, hold, &ends[1]) != 0) return 1;
  if (read(ends[0], &byte, 1) != 1) return 1;
  int sum = 0;                                           // threads
  for (int i = 0; i < 5; ++i) sum += work(names[i], i);  // loop
  sum += box.add(1);                                     // before
  watched = sum;                                         // store
  sum += square(3);                                      // call
  if (sum < 0) {                                         // what nobody calls but a debugger
    counter += *place();
    printf("%f %Lf %s %s %s %lu %d %d %d %ld %d %s", mix(1, 2, 3), precise(4), copy("c"), twice("t").c_str(),
           described(1), allocated(1), opened("o"), forked(), same_ids() + still_then(), elapsed(1),
           told("t"), box.name());
    puts(mapped(1));
    crash(), spin(), abort();
    return raised() + locked() + waits_at_most();
  }
  counter = sum;  // end
  return 0;
}
