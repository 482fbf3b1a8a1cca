#include "server/record/turn_server.h"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "server/record/turn_scheduler.h"

namespace detrec::server {
namespace {

void wake(std::uint32_t& word) { syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0); }

}  // namespace

struct TurnServer::State {
  explicit State(wire::TurnBoard* board_in) : board(board_in), scheduler(*board_in, wake) {}
  ~State() { munmap(board, sizeof *board); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  wire::TurnBoard* board;
  TurnScheduler scheduler;
  std::thread thread;
  std::atomic<bool> ended = false;

  void run(pid_t guest);
  void sleep();
  void stop();
};

void TurnServer::State::run(pid_t guest) {
  while (!ended) {
    scheduler.serve();
    if (scheduler.damage()) {
      kill(guest, SIGKILL);
      return;
    }
    sleep();
  }
}

/// Until the doorbell rings; not at all when there is something to do.
void TurnServer::State::sleep() {
  const std::atomic_ref sleeps(board->server_sleeps);
  sleeps = 1;
  if (!scheduler.has_work() && !ended)
    syscall(SYS_futex, &board->server_sleeps, FUTEX_WAIT, 1, nullptr, nullptr, 0);
  sleeps = 0;
}

void TurnServer::State::stop() {
  if (!thread.joinable()) return;
  ended = true;
  std::atomic_ref(board->server_sleeps) = 0;
  wake(board->server_sleeps);
  thread.join();
}

event::Result<TurnServer> TurnServer::map(int channel, const wire::Launch& launch) {
  void* place = mmap(nullptr, sizeof(wire::TurnBoard), PROT_READ | PROT_WRITE, MAP_SHARED, channel,
                     static_cast<off_t>(launch.turns_offset));
  if (place == MAP_FAILED)
    return event::Error{event::ErrorCode::kIo, std::strerror(errno), "mapping the board of turns"};
  return TurnServer(std::make_unique<State>(static_cast<wire::TurnBoard*>(place)));
}

TurnServer::TurnServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
TurnServer::TurnServer(TurnServer&& other) noexcept = default;
TurnServer::~TurnServer() {
  if (state_ != nullptr) state_->stop();
}

void TurnServer::start(pid_t guest) {
  state_->thread = std::thread([this_state = state_.get(), guest] { this_state->run(guest); });
}

std::optional<std::string> TurnServer::finish() {
  state_->stop();
  return state_->scheduler.damage();
}

}  // namespace detrec::server
