// Identities and slots: ID-1 .. ID-22, TURN-1 .. TURN-3. ID-1: ids are totally ordered numbers; ID-2: process
// number equals the leader's; ID-3: kRootProcess; ID-8: ProcessKey orders by pid, then generation; ID-15:
// ContinuationId.
#include "tests/core/rig.h"

namespace detrec::core::testing {
namespace {

TEST(Ids, S_ID_1_no_address_space_repeats) {
  const AddressSpaceId first = AddressSpaceId::initial(T(10));
  const AddressSpaceId second =
      first.after_exec(P(10));  // called by worker 11: the owner is the leader all the same
  const AddressSpaceId third = second.after_exec(P(10));
  EXPECT_NE(first, second);
  EXPECT_NE(second, third);
  EXPECT_NE(first, third);
  EXPECT_EQ(first.exec_count, 0u);
  EXPECT_EQ(second.exec_count, 1u);
  EXPECT_EQ(third.exec_count, 2u);
}

TEST(Ids, S_ID_2_private_futex_keys_follow_the_address_space) {
  const AddressSpaceId parent = AS(10);
  const FutexKey key = FutexKey::private_key(parent, 0x1000);
  EXPECT_EQ(FutexKey::private_key(parent.cloned(T(11), true), 0x1000), key);
  EXPECT_NE(FutexKey::private_key(parent.cloned(T(11), false), 0x1000), key);
  EXPECT_NE(FutexKey::private_key(parent.after_exec(P(10)), 0x1000), key);
}

TEST(Ids, S_ID_3_shared_keys_name_object_and_offset) {  // ID-17
  const FutexKey a = FutexKey::file(10, 20, 64);
  EXPECT_EQ(a, FutexKey::file(10, 20, 64));
  EXPECT_NE(a, FutexKey::file(10, 20, 68));
  EXPECT_NE(a, FutexKey::private_key(AS(10), 64));
  EXPECT_NE(a, FutexKey::anonymous(AS(10), 20, 64));
  EXPECT_NE(a, FutexKey::open_file({T(10), 20, false}, 64));
}

TEST(Ids, S_ID_4_operations_and_pairs_differ) {
  EXPECT_NE((ExternalOpId{T(1), 7}), (ExternalOpId{T(2), 7}));
  EXPECT_FALSE(Resource::parent_continue(T(1), T(2)) == Resource::parent_continue(T(2), T(1)));
  EXPECT_FALSE(Resource::external(ResourceKind::kExternalBlock, {T(1), 7}) ==
               Resource::external(ResourceKind::kExternalBlock, {T(2), 7}));
}

TEST(Ids, S_ID_5_socket_cookies) {
  const OpenFileId socket{T(3), 7, true}, alias = socket;
  EXPECT_EQ(socket.socket_cookie(), (std::uint64_t{3} << 32) | 7);
  EXPECT_NE(socket.socket_cookie(), 0u);
  EXPECT_EQ(alias.socket_cookie(), socket.socket_cookie());
  EXPECT_EQ(alias, socket);
  EXPECT_NE((OpenFileId{T(3), 8, true}).socket_cookie(), socket.socket_cookie());
  EXPECT_NE((OpenFileId{T(4), 7, true}).socket_cookie(), socket.socket_cookie());
  EXPECT_NE((OpenFileId{T(3), 7, false}), socket);
  EXPECT_NE(FutexKey::open_file(socket, 0), FutexKey::open_file({T(3), 7, false}, 0));
  EXPECT_DEATH(FutexKey::open_file({T(3), std::uint64_t{1} << 63 | 7, false}, 0), "63 bits");  // ID-13
}

TEST(Ids, S_ID_6_group_of_threads) {
  CreationTree tree;
  tree.add(T(100), T(100), true);
  tree.add(T(200), T(100), false);
  tree.add(T(300), T(100), false);
  EXPECT_EQ(tree.group_of(T(200)), Ts({100, 200, 300}));
  EXPECT_EQ(tree.creator(T(100)), T(100));  // ID-19: a root is its own creator
}

TEST(Ids, S_ID_7_groups_end_at_other_leaders) {
  CreationTree tree;
  tree.add(T(100), T(100), true);
  tree.add(T(200), T(100), false);
  tree.add(T(300), T(100), true);
  tree.add(T(400), T(300), false);
  tree.add(T(500), T(400), false);
  EXPECT_EQ(tree.group_of(T(200)), Ts({100, 200}));
  EXPECT_EQ(tree.group_of(T(500)), Ts({300, 400, 500}));
  EXPECT_EQ(tree.process_of(T(500)), P(300));
}

TEST(Ids, S_ID_8_tree_text) {
  CreationTree tree;
  EXPECT_EQ(tree.text(), "[]");
  tree.add(T(1), T(1), true);
  EXPECT_EQ(tree.text(), "[1]");
  tree.add(T(2), T(1), true);
  tree.add(T(3), T(2), false);
  EXPECT_EQ(tree.text(), "[1 [2 3]]");
  tree.add(T(4), T(3), false);  // a non-leader with children
  EXPECT_EQ(tree.text(), "[1 [2 (3 4)]]");
}

TEST(Ids, S_ID_9_accepted_address_space) {
  Rig rig(cancelling());
  rig.root(3);
  rig.thread(18, 3);
  EXPECT_FALSE(rig.refused(rig.send_as(18, AS(17, 0), AskGlobalTime{})));
  EXPECT_FALSE(rig.refused(rig.send_as(18, AS(17, 1), AskGlobalTime{})));
  rig->accepted_[T(18)] = AS(17, 0);
  EXPECT_FALSE(rig.refused(rig.send_as(18, AS(17, 0), AskGlobalTime{})));
  EXPECT_TRUE(rig.refused(rig.send_as(18, AS(17, 1), AskGlobalTime{})));
  rig->given_up_.insert(T(18));
  EXPECT_TRUE(rig.refused(rig.send_as(18, AS(17, 0), AskGlobalTime{})));
  EXPECT_TRUE(rig.refused(rig.send_as(18, AS(17, 1), AskGlobalTime{})));
}

TEST(Ids, S_ID_10_clone_address_spaces) {
  EXPECT_EQ(AS(17, 2).cloned(T(18), true), AS(17, 2));
  EXPECT_EQ(AS(17, 2).cloned(T(18), false), AS(18, 0));
}

TEST(Ids, ID_16_nonces_only_grow_and_never_pass_their_maximum) {
  NonceCounter nonces(NonceCounter::kMax - 2);
  EXPECT_TRUE(nonces.has_room(2));
  EXPECT_FALSE(nonces.has_room(3));
  EXPECT_EQ(nonces.take(), NonceCounter::kMax - 1);
  EXPECT_EQ(nonces.take(), NonceCounter::kMax);
  EXPECT_FALSE(nonces.has_room(1));
}

TEST(Ids, ID_10_ID_11_a_site_must_pass_the_task_check) {
  RealTimers timers;
  const TaskIdentity task{{P(100), 1}, T(100), 5};
  ASSERT_TRUE(timers.bind(T(100), P(100), AS(100), task));
  EXPECT_TRUE(timers.check_task(T(100), P(100), AS(100), task));
  EXPECT_FALSE(timers.check_task(T(100), P(100), AS(100, 1), task));
  EXPECT_FALSE(timers.check_task(T(101), P(100), AS(100), task));
  EXPECT_FALSE(timers.check_task(T(100), P(101), AS(100), task));
  EXPECT_FALSE(timers.check_task(T(100), P(100), AS(100), {{P(100), 2}, T(100), 5}));
  EXPECT_FALSE(timers.check_task(T(100), P(100), AS(100), {{P(100), 1}, T(100), 6}));
  EXPECT_FALSE((CallSite{task, 1} == CallSite{task, 2}));
}

using IntSlot = Slot<int>;

TEST(Slots, S_SLOT_1_written_once) {
  IntSlot slot(1);
  slot.fill(7);
  EXPECT_DEATH(slot.fill(8), "twice");
  EXPECT_EQ(slot.try_fill(9), 9);
  EXPECT_EQ(slot.value(), 7);
  EXPECT_EQ(slot.value(), 7);
  IntSlot other(2);
  other.fill(7);
  EXPECT_FALSE(slot == other);  // by identity
  EXPECT_EQ(other.try_fill(1), 1);
  IntSlot empty(3);
  EXPECT_EQ(empty.try_fill(5), std::nullopt);
}

TEST(Slots, S_SLOT_2_text_without_addresses) {
  IntSlot slot(1);
  const auto print = [](int v) { return std::to_string(v); };
  const std::string empty = slot.describe(print);
  EXPECT_FALSE(slot.wait());
  const std::string awaited = slot.describe(print);
  slot.fill(7);
  EXPECT_NE(empty, awaited);
  EXPECT_EQ(slot.describe(print), "7");
  EXPECT_EQ(empty.find("0x"), std::string::npos);
  EXPECT_EQ(awaited.find("0x"), std::string::npos);
}

TEST(Slots, S_SLOT_3_a_waiter_is_woken_and_reads_repeat) {
  IntSlot slot(1);
  EXPECT_FALSE(slot.wait());
  EXPECT_TRUE(slot.fill(33));  // tells that somebody is to be woken
  EXPECT_EQ(slot.wait(), 33);
  EXPECT_EQ(slot.wait(), 33);
}

}  // namespace
}  // namespace detrec::core::testing
