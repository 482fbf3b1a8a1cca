// C++20 coroutines: resumption is an indirect call into the middle of a function.
#include <coroutine>
#include <optional>

#include "guest.h"

namespace {

struct Generator {
  struct promise_type {
    long current = 0;
    Generator get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(long value) {
      current = value;
      return {};
    }
    void return_void() {}
    void unhandled_exception() { throw; }
  };
  std::coroutine_handle<promise_type> handle;
  std::optional<long> next() {
    handle.resume();
    if (handle.done()) return std::nullopt;
    return handle.promise().current;
  }
  ~Generator() { handle.destroy(); }
  Generator(std::coroutine_handle<promise_type> h) : handle(h) {}
  Generator(const Generator&) = delete;
};

Generator fibonacci(int count) {
  long a = 0, b = 1;
  for (int i = 0; i < count; i++) {
    co_yield a;
    long sum = a + b;
    a = b;
    b = sum;
  }
}

Generator squares_below(Generator& source, long limit) {
  while (auto value = source.next()) {
    if (*value * *value >= limit) co_return;
    co_yield *value** value;
  }
}

}  // namespace

int main() {
  Generator numbers = fibonacci(60);
  Generator squares = squares_below(numbers, 1000000);
  while (auto value = squares.next()) printf("%ld ", *value);
  printf("\n");
  return guest_result();
}
