// Plain computing in many styles, summed up: hashing, sorting, containers, floating point, big integers,
// strings.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

#include "guest.h"

namespace {

uint64_t next_random(uint64_t& state) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

uint32_t checksum(const std::vector<uint8_t>& data) {
  uint32_t crc = ~0u;
  for (uint8_t byte : data) {
    crc ^= byte;
    for (int bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ (0xedb88320u & (0u - (crc & 1)));
  }
  return ~crc;
}

int mandelbrot(double cx, double cy) {
  double x = 0, y = 0;
  for (int i = 0; i < 200; i++) {
    double xx = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = xx;
    if (x * x + y * y > 4) return i;
  }
  return 200;
}

}  // namespace

int main() {
  uint64_t seed = 42;
  std::vector<uint8_t> bytes(200000);
  for (auto& byte : bytes) byte = static_cast<uint8_t>(next_random(seed));
  printf("checksum %08x\n", checksum(bytes));

  std::vector<uint64_t> numbers(100000);
  for (auto& number : numbers) number = next_random(seed);
  std::sort(numbers.begin(), numbers.end());
  EXPECT(std::is_sorted(numbers.begin(), numbers.end()));
  std::stable_sort(numbers.begin(), numbers.end(),
                   [](uint64_t a, uint64_t b) { return (a & 0xfff) < (b & 0xfff); });
  printf("middle %llx\n", static_cast<unsigned long long>(numbers[50000]));

  std::map<std::string, int> words;
  std::unordered_map<uint64_t, int> counts;
  for (int i = 0; i < 20000; i++) {
    std::ostringstream name;
    name << "word" << next_random(seed) % 1000;
    words[name.str()]++;
    counts[next_random(seed) % 777]++;
  }
  printf("%zu words, word500 %d, %zu counts\n", words.size(), words["word500"], counts.size());

  long inside = 0;
  for (int y = -40; y < 40; y++) {
    for (int x = -60; x < 30; x++) inside += mandelbrot(x / 30.0, y / 30.0);
  }
  printf("mandelbrot %ld\n", inside);

  std::vector<uint32_t> big{1};
  for (uint32_t factor = 2; factor <= 300; factor++) {
    uint64_t carry = 0;
    for (auto& digit : big) {
      carry += uint64_t{digit} * factor;
      digit = static_cast<uint32_t>(carry % 1000000000);
      carry /= 1000000000;
    }
    if (carry) big.push_back(static_cast<uint32_t>(carry));
  }
  printf("300! has %zu groups, top %u\n", big.size(), big.back());

  double sum = 0;
  for (int i = 1; i < 20000; i++)
    sum += std::sin(i) * std::log(i) / std::sqrt(i) + std::pow(i, 0.1) - std::atan2(i, 3);
  printf("sum %.6f\n", sum);
  long double product = 1;
  for (int i = 1; i < 100; i++) product *= 1 + 1.0L / i;
  printf("product %.6Lf\n", product);
  return guest_result();
}
