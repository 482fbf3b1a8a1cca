// Indirect calls: tables, virtual functions, members, callbacks from libc, one site with many targets.
#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "guest.h"

namespace {

template <int N>
__attribute__((noinline)) int add(int x) {
  return x + N;
}
template <int... N>
std::vector<int (*)(int)> make_table(std::integer_sequence<int, N...>) {
  return {add<N>...};
}

struct Shape {
  virtual ~Shape() = default;
  virtual int area() const = 0;
};
struct Square : Shape {
  explicit Square(int s) : side(s) {}
  int area() const override { return side * side; }
  int side;
};
struct Rectangle : virtual Shape {
  Rectangle(int w, int h) : width(w), height(h) {}
  int area() const override { return width * height; }
  int width, height;
};

int compare(const void* a, const void* b) {
  return *static_cast<const int*>(a) - *static_cast<const int*>(b);
}

}  // namespace

int main() {
  auto table = make_table(std::make_integer_sequence<int, 400>());
  long sum = 0;
  unsigned index = 1;
  for (int i = 0; i < 100000; i++) {
    index = index * 1103515245u + 12345u;
    sum += table[(index >> 16) % table.size()](i & 7);
  }
  printf("one site, 400 targets: %ld\n", sum);

  std::vector<std::unique_ptr<Shape>> shapes;
  for (int i = 0; i < 100; i++) {
    if (i % 3 == 0) {
      shapes.push_back(std::make_unique<Square>(i));
    } else {
      shapes.push_back(std::make_unique<Rectangle>(i, 2));
    }
  }
  int area = 0;
  for (int round = 0; round < 100; round++) {
    for (const auto& shape : shapes) area += shape->area();
  }
  printf("virtual: %d\n", area);

  int (Shape::*member)() const = &Shape::area;
  printf("member pointer: %d\n", (*shapes[4].*member)());

  std::vector<int> numbers;
  for (int i = 0; i < 3000; i++) numbers.push_back((i * 7919) % 3001);
  qsort(numbers.data(), numbers.size(), sizeof(int), compare);
  EXPECT(std::is_sorted(numbers.begin(), numbers.end()));
  std::vector<std::function<int(int)>> functions;
  for (int i = 0; i < 10; i++) functions.emplace_back([i](int x) { return x * i; });
  int total = 0;
  for (const auto& function : functions) total += function(3);
  printf("functions: %d\n", total);
  EXPECT_EQ(total, 135);
  return guest_result();
}
