// C++ exceptions: through many frames with destructors, by type, rethrown, nested, from constructors, through
// C code, across threads, twenty thousand times.
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "guest.h"

namespace {

int alive;
struct Counted {
  Counted() { alive++; }
  ~Counted() { alive--; }
};

__attribute__((noinline)) void fall(int depth, int kind) {
  Counted counted;
  if (depth > 0) {
    fall(depth - 1, kind);
    return;
  }
  switch (kind) {
    case 0:
      throw 42;
    case 1:
      throw std::string("text");
    case 2:
      throw std::runtime_error("runtime");
    case 3:
      throw std::out_of_range("range");
    default:
      throw kind;
  }
}

struct Partial {
  Partial() : first(), second() { throw 5; }
  Counted first, second;
};

int throwing_compare(const void* a, const void* b) {
  if (*static_cast<const int*>(a) == 13 || *static_cast<const int*>(b) == 13)
    throw std::logic_error("thirteen");
  return *static_cast<const int*>(a) - *static_cast<const int*>(b);
}

}  // namespace

int main() {
  for (int kind = 0; kind < 5; kind++) {
    try {
      fall(200, kind);
      EXPECT(!"returned");
    } catch (int value) {
      printf("int %d\n", value);
    } catch (const std::string& text) {
      printf("string %s\n", text.c_str());
    } catch (const std::logic_error& error) {
      printf("logic error %s\n", error.what());
    } catch (const std::exception& error) {
      printf("exception %s\n", error.what());
    }
    EXPECT_EQ(alive, 0);
  }
  long sum = 0;
  for (int i = 0; i < 20000; i++) {
    try {
      fall(i % 5, 1000 + i);
    } catch (int value) {
      sum += value;
    }
  }
  printf("sum %ld\n", sum);
  try {
    try {
      fall(3, 2);
    } catch (const std::exception&) {
      std::throw_with_nested(std::invalid_argument("outer"));
    }
  } catch (const std::exception& error) {
    printf("%s", error.what());
    try {
      std::rethrow_if_nested(error);
    } catch (const std::exception& inner) {
      printf(" around %s\n", inner.what());
    }
  }
  try {
    Partial partial;
  } catch (int value) {
    printf("constructor threw %d\n", value);
  }
  EXPECT_EQ(alive, 0);
  int numbers[] = {5, 9, 1, 13, 7, 2};
  try {
    qsort(numbers, 6, sizeof numbers[0], throwing_compare);
    EXPECT(!"returned");
  } catch (const std::logic_error& error) {
    printf("through qsort: %s\n", error.what());
  }
  std::exception_ptr carried;
  std::thread([&carried] {
    try {
      fall(10, 3);
    } catch (...) {
      carried = std::current_exception();
    }
  }).join();
  try {
    std::rethrow_exception(carried);
  } catch (const std::out_of_range& error) {
    printf("from a thread: %s\n", error.what());
  }
  return guest_result();
}
