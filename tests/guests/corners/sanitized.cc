// A C++ program built with a sanitizer: containers, exceptions, threads, and an error that is found and
// reported.
// @env: ASAN_OPTIONS=detect_leaks=0
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "guest.h"

int main() {
  std::map<std::string, std::vector<int>> table;
  for (int i = 0; i < 2000; i++) table["key" + std::to_string(i % 50)].push_back(i);
  long sum = 0;
  for (const auto& [key, values] : table) {
    for (int value : values) sum += value + static_cast<int>(key.size());
  }
  printf("%ld\n", sum);
  auto block = std::make_unique<char[]>(1 << 20);
  memset(block.get(), 1, 1 << 20);
  std::vector<std::thread> threads;
  std::vector<long> sums(4);
  for (size_t i = 0; i < 4; i++) {
    threads.emplace_back([&sums, i] {
      std::vector<int> numbers(10000, static_cast<int>(i));
      for (int n : numbers) sums[i] += n;
    });
  }
  for (auto& thread : threads) thread.join();
  printf("%ld %ld\n", sums[1], sums[3]);
  try {
    throw std::runtime_error("thrown");
  } catch (const std::exception& error) {
    printf("%s\n", error.what());
  }
  return guest_result();
}
