// std::thread, futures, condition variables, atomics with wait, thread_local objects with destructors,
// call_once with an exception, a parallel sum.
#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>
#include <numeric>
#include <queue>
#include <thread>
#include <vector>

#include "guest.h"

namespace {

std::atomic<int> created, destroyed;
struct PerThread {
  PerThread() { created++; }
  ~PerThread() { destroyed++; }
  int value = 0;
};
thread_local PerThread per_thread;

}  // namespace

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 20; i++) threads.emplace_back([i] { per_thread.value = i; });
  for (auto& thread : threads) thread.join();
  printf("created %d, destroyed %d\n", created.load(), destroyed.load());
  EXPECT_EQ(created.load(), 20);
  EXPECT_EQ(destroyed.load(), 20);

  std::vector<long> numbers(400000);
  std::iota(numbers.begin(), numbers.end(), 1);
  std::vector<std::future<long>> parts;
  for (size_t i = 0; i < 8; i++) {
    parts.push_back(std::async(std::launch::async, [&numbers, i] {
      size_t step = numbers.size() / 8;
      return std::accumulate(numbers.begin() + i * step, numbers.begin() + (i + 1) * step, 0L);
    }));
  }
  long sum = 0;
  for (auto& part : parts) sum += part.get();
  printf("sum %ld\n", sum);

  std::promise<int> promise;
  auto future = promise.get_future();
  std::thread setter([&promise] { promise.set_exception(std::make_exception_ptr(41)); });
  try {
    future.get();
    EXPECT(!"no exception");
  } catch (int value) {
    printf("exception %d\n", value);
  }
  setter.join();

  std::mutex mutex;
  std::condition_variable changed;
  std::queue<int> queue;
  bool finished = false;
  long consumed = 0;
  std::thread consumer([&] {
    for (;;) {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return finished || !queue.empty(); });
      if (queue.empty()) return;
      consumed += queue.front();
      queue.pop();
    }
  });
  for (int i = 0; i < 5000; i++) {
    std::lock_guard lock(mutex);
    queue.push(i);
    changed.notify_one();
  }
  {
    std::lock_guard lock(mutex);
    finished = true;
    changed.notify_all();
  }
  consumer.join();
  EXPECT_EQ(consumed, 4999L * 5000 / 2);

  std::atomic<int> ball{0};
  std::thread other([&ball] {
    for (int i = 0; i < 1000; i++) {
      ball.wait(2 * i);
      ball.store(2 * i + 2);
      ball.notify_one();
    }
  });
  for (int i = 0; i < 1000; i++) {
    ball.store(2 * i + 1);
    ball.notify_one();
    ball.wait(2 * i + 1);
  }
  other.join();
  EXPECT_EQ(ball.load(), 2000);

  std::once_flag flag;
  int attempts = 0;
  for (int i = 0; i < 3; i++) {
    try {
      std::call_once(flag, [&attempts] {
        if (++attempts < 2) throw 1;
      });
    } catch (int) {
      printf("call_once threw\n");
    }
  }
  EXPECT_EQ(attempts, 2);
  return guest_result();
}
