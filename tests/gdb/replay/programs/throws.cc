// Exceptions through two frames, and virtual calls.
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>

struct Shape {
  virtual ~Shape() = default;
  virtual int area() const = 0;
};
struct Square : Shape {
  explicit Square(int s) : side(s) {}
  int area() const override {
    if (side < 0) throw std::runtime_error("negative");  // throw
    return side * side;
  }
  int side;
};

int caught;
std::map<std::string, int> areas;

int main() {
  for (int i = 3; i >= -1; --i) {
    Square s(i);
    try {
      areas["side " + std::to_string(i)] = s.area();
    } catch (const std::exception&) {
      ++caught;  // caught
    }
  }
  std::printf("%d %zu\n", caught, areas.size());
}
