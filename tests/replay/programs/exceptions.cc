// Exceptions through several frames, with destructors on the way, in two threads.
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

int alive = 0;

struct Counted {
  Counted() { ++alive; }
  ~Counted() { --alive; }
};

int fall(int depth) {
  Counted counted;
  if (depth == 0) throw std::runtime_error("at the bottom");
  return fall(depth - 1) + 1;
}

std::string run(int rounds) {
  std::map<std::string, int> seen;
  for (int i = 0; i < rounds; i++) {
    try {
      if (i % 3 == 0) {
        seen[std::to_string(fall(i % 20))]++;
      } else {
        seen[std::string("abc").substr(static_cast<std::size_t>(i % 7))]++;
      }
    } catch (const std::exception& error) {
      seen[error.what()]++;
    }
  }
  std::string text;
  for (const auto& [name, count] : seen) text += name + "=" + std::to_string(count) + ";";
  return text;
}

}  // namespace

int main() {
  std::string first, second;
  std::thread thread([&first] { first = run(300); });
  thread.join();
  second = run(400);
  std::printf("%s\n%s\nalive %d\n", first.c_str(), second.c_str(), alive);
}
