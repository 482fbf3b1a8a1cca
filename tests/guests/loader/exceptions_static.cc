// C++ start-up and exceptions in a static program (unwinding finds its tables by dl_iterate_phdr).
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>

#include "guest.h"

struct Noisy {
  explicit Noisy(const char* n) : name(n) { std::cout << "construct " << name << '\n'; }
  ~Noisy() { std::cout << "destroy " << name << '\n'; }
  const char* name;
};
static Noisy global("global");
static std::map<std::string, int> table = {{"one", 1}, {"two", 2}};

static void fail(int depth) {
  Noisy local("frame");
  if (depth == 0) throw std::runtime_error("bottom");
  fail(depth - 1);
}

int main() {
  try {
    fail(3);
    EXPECT(!"no exception");
  } catch (const std::exception& error) {
    std::cout << "caught " << error.what() << '\n';
  }
  try {
    table.at("three");
    EXPECT(!"no exception");
  } catch (const std::out_of_range&) {
    std::cout << "caught out_of_range" << std::endl;
  }
  return guest_result();
}
