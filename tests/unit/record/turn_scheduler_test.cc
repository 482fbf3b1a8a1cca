// The scheduler's side of the board: guests are played here, a step at a time.
#include "server/record/turn_scheduler.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <vector>

namespace detrec::server {
namespace {

using wire::SlotReport;
using wire::TurnOutcome;
using wire::TurnRequest;
using wire::TurnRequestKind;
using wire::TurnState;

constexpr std::uint32_t kNobody = ~std::uint32_t{0};
constexpr std::uint64_t kWord = 0x5000;

int wakes = 0;
void count_wake(std::uint32_t&) { ++wakes; }

class TurnSchedulerTest : public testing::Test {
 protected:
  /// An image whose first thread, in slot 0, has created `others` more and goes on; then it is the turn of 1,
  /// 2, and so on.
  void begin(std::uint32_t others) {
    wakes = 0;
    board_->turn = wire::turn_word(TurnState::kHeld, 0);
    post(0, {.kind = TurnRequestKind::kBegin});
    for (std::uint32_t i = 0; i < others; ++i) {
      post(0, {.kind = TurnRequestKind::kCreate, .other_slot = others - i, .other_thread = i + 2});
      free_turn(0, {.kind = TurnRequestKind::kContinue});
      serve();
      while (holder() != 0) slice(holder());
    }
  }

  void post(std::uint32_t slot, TurnRequest request) {
    request.slot = slot;
    request.thread = first_thread_ + slot;
    request.ticks = ++ticks_;
    board_->requests[board_->posted++ % wire::kTurnRequests] = request;
  }
  /// The holder ends its turn.
  void free_turn(std::uint32_t slot, TurnRequest request) {
    post(slot, request);
    board_->turn = wire::turn_word(TurnState::kFree, slot);
  }
  void slice(std::uint32_t slot) {
    free_turn(slot, {.kind = TurnRequestKind::kSlice});
    serve();
  }
  void outside(std::uint32_t slot) {
    free_turn(slot, {.kind = TurnRequestKind::kOutside});
    serve();
  }
  void wait(std::uint32_t slot, std::uint64_t word = kWord, std::uint32_t mask = ~0u) {
    counts_.add(word, 1);
    free_turn(slot, {.kind = TurnRequestKind::kWait, .mask = mask, .address = word});
    serve();
  }
  void wake(std::uint32_t slot, std::uint32_t count, std::uint32_t expected, std::uint32_t mask = ~0u) {
    counts_.subtract(kWord, expected);
    post(slot, {.kind = TurnRequestKind::kWake,
                .mask = mask,
                .count = count,
                .expected = expected,
                .address = kWord});
  }
  void report(std::uint32_t slot, SlotReport what) {
    board_->slots[slot].report = what;
    board_->slots[slot].reported_at = board_->reports++;
    board_->returned_bits[slot / 64] |= std::uint64_t{1} << (slot % 64);
    ++board_->returned;
  }
  void serve() {
    scheduler_.serve();
    EXPECT_EQ(scheduler_.damage(), std::nullopt);
    EXPECT_FALSE(scheduler_.has_work());
  }
  /// Who has the turn; takes its grant.
  std::uint32_t holder() {
    if (wire::state_of_turn(board_->turn) != TurnState::kHeld) return kNobody;
    const std::uint32_t slot = wire::slot_of_turn(board_->turn);
    board_->slots[slot].granted = 0;
    return slot;
  }
  TurnOutcome outcome(std::uint32_t slot) const { return board_->slots[slot].outcome; }

  std::unique_ptr<wire::TurnBoard> board_ = std::make_unique<wire::TurnBoard>();
  wire::FutexCounts counts_{board_->futexes};
  TurnScheduler scheduler_{*board_, count_wake};
  std::uint32_t first_thread_ = 1;
  std::uint64_t ticks_ = 0;
};

TEST_F(TurnSchedulerTest, SlicesGoRound) {
  begin(2);
  std::vector<std::uint32_t> order;
  for (int i = 0; i < 6; ++i) {
    order.push_back(holder());
    slice(order.back());
  }
  EXPECT_EQ(order, (std::vector<std::uint32_t>{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(board_->wanting, 2u);
}

TEST_F(TurnSchedulerTest, GrantsAreWokenOnce) {
  begin(1);
  const int before = wakes;
  slice(0);
  EXPECT_EQ(wakes, before + 1);
  EXPECT_EQ(board_->slots[1].granted, 1u);
  EXPECT_EQ(board_->slots[0].granted, 0u);
}

TEST_F(TurnSchedulerTest, WhoIsOutsideHasNoTurnUntilItReports) {
  begin(1);
  outside(0);
  EXPECT_EQ(holder(), 1u);
  EXPECT_EQ(board_->wanting, 0u);
  slice(1);
  EXPECT_EQ(holder(), 1u);
  report(0, SlotReport::kDone);
  EXPECT_FALSE(scheduler_.has_work());  // somebody runs
  slice(1);
  // Behind the one that has waited for its turn longer.
  EXPECT_EQ(holder(), 1u);
  slice(1);
  EXPECT_EQ(holder(), 0u);
}

TEST_F(TurnSchedulerTest, WhoComesBackFirstRunsFirst) {
  begin(3);
  for (const std::uint32_t slot : {0u, 1u, 2u}) wait(slot);
  ASSERT_EQ(holder(), 3u);
  for (const std::uint32_t slot : {1u, 2u, 0u}) report(slot, SlotReport::kExpired);
  std::vector<std::uint32_t> order;
  for (std::uint32_t last = 3; order.size() < 4; last = order.back()) {
    slice(last);
    order.push_back(holder());
  }
  EXPECT_EQ(order, (std::vector<std::uint32_t>{1, 2, 0, 3}));
}

TEST_F(TurnSchedulerTest, IdleUntilSomebodyComesBack) {
  begin(1);
  outside(0);
  outside(1);
  EXPECT_EQ(holder(), kNobody);
  report(1, SlotReport::kDone);
  EXPECT_TRUE(scheduler_.has_work());
  serve();
  EXPECT_EQ(holder(), 1u);
}

TEST_F(TurnSchedulerTest, ATurnThatWasLeftIsTakenOnlyForSomebody) {
  begin(1);
  outside(0);
  ASSERT_EQ(holder(), 1u);
  board_->turn = wire::turn_word(TurnState::kLeft, 1);
  serve();
  EXPECT_EQ(board_->turn, wire::turn_word(TurnState::kLeft, 1));  // its own to take back
  report(0, SlotReport::kDone);
  EXPECT_TRUE(scheduler_.has_work());
  serve();
  EXPECT_EQ(holder(), 0u);
  report(1, SlotReport::kDone);
  slice(0);
  EXPECT_EQ(holder(), 0u);
  slice(0);
  EXPECT_EQ(holder(), 1u);
}

TEST_F(TurnSchedulerTest, WakesTheLongestWaiting) {
  begin(3);
  wait(0);
  wait(1);
  wait(2);
  ASSERT_EQ(holder(), 3u);
  EXPECT_EQ(board_->wanting, 0u);
  wake(3, 2, 2);
  slice(3);
  EXPECT_EQ(holder(), 3u);  // whoever is woken queues up behind
  slice(3);
  EXPECT_EQ(holder(), 0u);
  EXPECT_EQ(outcome(0), TurnOutcome::kGo);
  slice(0);
  EXPECT_EQ(holder(), 1u);
  EXPECT_EQ(counts_.at(kWord), 1u);
}

TEST_F(TurnSchedulerTest, TimeoutsAndSignalsEndWaits) {
  begin(2);
  wait(0);
  wait(1);
  report(0, SlotReport::kExpired);
  report(1, SlotReport::kInterrupted);
  slice(2);
  EXPECT_EQ(counts_.at(kWord), 0u);
  std::map<std::uint32_t, TurnOutcome> outcomes;
  for (int i = 0; i < 3; ++i) {
    const std::uint32_t slot = holder();
    outcomes[slot] = outcome(slot);
    slice(slot);
  }
  EXPECT_EQ(outcomes,
            (std::map<std::uint32_t, TurnOutcome>{
                {0, TurnOutcome::kTimedOut}, {1, TurnOutcome::kInterrupted}, {2, TurnOutcome::kGo}}));
}

TEST_F(TurnSchedulerTest, AWakeThatCameFirstCountsForAWaitThatExpires) {
  begin(1);
  wait(0);
  wake(1, 1, 1);
  report(0, SlotReport::kExpired);
  slice(1);
  slice(holder());
  EXPECT_EQ(holder(), 0u);
  EXPECT_EQ(outcome(0), TurnOutcome::kGo);
}

TEST_F(TurnSchedulerTest, AllMayWaitForOneAnother) {
  begin(1);
  wait(0);
  wait(1);
  EXPECT_EQ(holder(), kNobody);
  report(1, SlotReport::kInterrupted);
  serve();
  EXPECT_EQ(holder(), 1u);
  EXPECT_EQ(outcome(1), TurnOutcome::kInterrupted);
}

TEST_F(TurnSchedulerTest, AnswersWhatMasksDecide) {
  begin(2);
  wait(0, kWord, 1);
  wait(1, kWord, 2);
  ASSERT_EQ(holder(), 2u);
  post(2, {.kind = TurnRequestKind::kWake,
           .mask = 2,
           .count = 10,
           .expected = wire::kAnswerWanted,
           .address = kWord});
  serve();
  EXPECT_EQ(board_->slots[2].answered, 1u);
  EXPECT_EQ(board_->slots[2].answer, 1u);
  counts_.subtract(kWord, 1);
  slice(2);
  slice(holder());
  EXPECT_EQ(holder(), 1u);
}

TEST_F(TurnSchedulerTest, MovesWaitersAndWhereTheyExpire) {
  begin(2);
  wait(0);
  wait(1);
  counts_.subtract(kWord, 2);
  counts_.add(kWord + 4, 1);
  post(2, {.kind = TurnRequestKind::kRequeue,
           .count = 1,
           .other_count = 1,
           .expected = 1,
           .other_expected = 1,
           .address = kWord,
           .other_address = kWord + 4});
  report(1, SlotReport::kExpired);
  slice(2);
  EXPECT_EQ(counts_.at(kWord), 0u);
  EXPECT_EQ(counts_.at(kWord + 4), 0u);
}

TEST_F(TurnSchedulerTest, TheEndOfAThreadWakesWhoJoinsIt) {
  begin(1);
  wait(0);
  wake(1, 1, 1);
  free_turn(1, {.kind = TurnRequestKind::kEnd});
  serve();
  EXPECT_EQ(holder(), 0u);
  EXPECT_EQ(board_->wanting, 0u);
  // Its slot can be used again.
  post(0, {.kind = TurnRequestKind::kCreate, .other_slot = 1, .other_thread = 9});
  free_turn(0, {.kind = TurnRequestKind::kContinue});
  serve();
  EXPECT_EQ(holder(), 0u);
}

TEST_F(TurnSchedulerTest, AnImageBeginsAnew) {
  begin(2);
  wait(0);
  // Thread 2 executes another program, which creates a thread.
  first_thread_ = 10;
  board_->turn = wire::turn_word(TurnState::kHeld, 0);
  for (wire::FutexCount& count : board_->futexes) count = {};
  ticks_ = 0;
  post(0, {.kind = TurnRequestKind::kBegin});
  post(0, {.kind = TurnRequestKind::kCreate, .other_slot = 1, .other_thread = 11});
  free_turn(0, {.kind = TurnRequestKind::kContinue});
  serve();
  EXPECT_EQ(holder(), 0u);
  slice(0);
  EXPECT_EQ(holder(), 1u);
}

TEST_F(TurnSchedulerTest, RefusesNonsense) {
  const auto damage_after = [](auto&& act) {
    auto board = std::make_unique<wire::TurnBoard>();
    TurnScheduler scheduler(*board, count_wake);
    const auto say = [&board](TurnRequest request) {
      if (request.thread == 0) request.thread = 1;
      board->requests[board->posted++ % wire::kTurnRequests] = request;
    };
    say({.kind = TurnRequestKind::kBegin, .ticks = 5});
    act(*board, say);
    scheduler.serve();
    return scheduler.damage().has_value();
  };
  EXPECT_FALSE(damage_after([](auto&, auto) {}));
  EXPECT_TRUE(damage_after([](auto&, auto say) { say({.kind = TurnRequestKind::kSlice, .slot = 7}); }));
  EXPECT_TRUE(damage_after([](auto&, auto say) { say({.kind = TurnRequestKind::kSlice, .slot = 99'999}); }));
  EXPECT_TRUE(damage_after([](auto&, auto say) { say({.kind = TurnRequestKind::kSlice, .ticks = 4}); }));
  EXPECT_TRUE(damage_after([](auto&, auto say) { say({.kind = TurnRequestKind::kContinue, .ticks = 6}); }));
  EXPECT_TRUE(damage_after([](auto&, auto say) { say({.kind = TurnRequestKind{77}, .ticks = 6}); }));
  EXPECT_TRUE(damage_after([](auto&, auto say) { say({.kind = TurnRequestKind::kBegin}); }));  // number used
  EXPECT_TRUE(damage_after([](auto&, auto say) {
    say({.kind = TurnRequestKind::kCreate, .other_slot = 0, .other_thread = 2, .ticks = 6});
  }));
  EXPECT_TRUE(damage_after([](auto&, auto say) {
    say({.kind = TurnRequestKind::kWake, .mask = 1, .count = 1, .expected = 1, .ticks = 6, .address = 8});
  }));
  EXPECT_TRUE(damage_after([](auto& board, auto) {
    board.turn = wire::turn_word(TurnState::kFree, 0);  // and has said nothing
  }));
  EXPECT_TRUE(damage_after([](auto& board, auto) {
    board.turn = wire::turn_word(TurnState::kLeft, 3);
    board.returned = 1;
  }));
}

}  // namespace
}  // namespace detrec::server
