// C++ as it is written: virtual calls through a vector of bases, std::map with string keys, std::function.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace {

struct Shape {
  virtual ~Shape() = default;
  virtual std::uint64_t area() const = 0;
  virtual void grow(std::uint64_t by) = 0;
};

struct Square final : Shape {
  std::uint64_t side = 1;
  std::uint64_t area() const override { return side * side; }
  void grow(std::uint64_t by) override { side = (side + by) & 0xfff; }
};

struct Rectangle final : Shape {
  std::uint64_t width = 1;
  std::uint64_t height = 2;
  std::uint64_t area() const override { return width * height; }
  void grow(std::uint64_t by) override { width = (width + by) & 0xfff; }
};

struct Segment final : Shape {
  std::uint64_t length = 3;
  std::uint64_t area() const override { return length; }
  void grow(std::uint64_t by) override { length = (length + by) & 0xfff; }
};

std::uint64_t call_virtuals(unsigned rounds) {
  std::vector<std::unique_ptr<Shape>> shapes;
  for (unsigned i = 0; i < 300; ++i) {
    switch (i * 7 % 3) {
      case 0: shapes.push_back(std::make_unique<Square>()); break;
      case 1: shapes.push_back(std::make_unique<Rectangle>()); break;
      default: shapes.push_back(std::make_unique<Segment>()); break;
    }
  }
  std::uint64_t sum = 0;
  for (unsigned round = 0; round < rounds; ++round) {
    for (const auto& shape : shapes) {
      shape->grow(round);
      sum += shape->area();
    }
  }
  return sum;
}

std::uint64_t use_map(unsigned rounds) {
  std::map<std::string, std::uint64_t> counts;
  std::uint64_t state = 1;
  const std::function<std::uint64_t()> next = [&state] {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return state >> 40;
  };
  for (unsigned round = 0; round < rounds; ++round) ++counts["key " + std::to_string(next() % 20'000)];
  std::uint64_t sum = 0;
  for (const auto& [key, count] : counts) sum = sum * 31 + key.size() * count;
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  const unsigned thousands = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 100;
  std::printf("%llu\n", static_cast<unsigned long long>(call_virtuals(thousands * 200)));
  std::printf("%llu\n", static_cast<unsigned long long>(use_map(thousands * 1000)));
}
