// A C++ exception thrown out of a handler for a fault unwinds through the faulting instruction's frame.
#include <csignal>
#include <stdexcept>

#include "guest.h"

namespace {

int destroyed;
struct Local {
  ~Local() { destroyed++; }
};

void on_segv(int) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGSEGV);
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
  throw std::runtime_error("null pointer");
}
void on_fpe(int) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGFPE);
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
  throw 7;
}

__attribute__((noinline)) int read_through(volatile int* pointer, int depth) {
  Local local;
  if (depth > 0) return read_through(pointer, depth - 1) + 1;
  return *pointer;
}
__attribute__((noinline)) int divide(volatile int* a, volatile int* b) {
  Local local;
  return *a / *b;
}

}  // namespace

int main() {
  std::signal(SIGSEGV, on_segv);
  std::signal(SIGFPE, on_fpe);
  int caught = 0;
  for (int i = 0; i < 300; i++) {
    try {
      read_through(nullptr, i % 10);
      EXPECT(!"no fault");
    } catch (const std::runtime_error&) {
      caught++;
    }
    try {
      volatile int one = 1, zero = 0;
      divide(&one, &zero);
      EXPECT(!"no fault");
    } catch (int value) {
      caught += value == 7;
    }
  }
  printf("%d caught, %d destroyed\n", caught, destroyed);
  EXPECT_EQ(caught, 600);
  EXPECT_EQ(destroyed, 30 * 55 + 300);
  return guest_result();
}
