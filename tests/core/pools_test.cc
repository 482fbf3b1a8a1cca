// Pools of virtual identities: PORT-1 .. PORT-7, INODE-1 .. INODE-10, DEV-1 .. DEV-4, MNT-1 .. MNT-11.
#include "tests/core/rig.h"

namespace detrec::core::testing {
namespace {

OpenFileId sock(int n) { return {T(3), static_cast<std::uint64_t>(n), true}; }
PortPool ports(std::uint16_t first, std::uint16_t last) {
  return PortPool([=] { return PortRange{first, last}; });
}

TEST(Dev, S_DEV_1_numbers_follow_first_sight) {
  DevicePool a, b;
  EXPECT_EQ(a.map(0x20), 1u);
  EXPECT_EQ(a.map(3'145'792), 2u);
  EXPECT_EQ(b.map(0x20), 1u);
  EXPECT_EQ(b.map(3'145'788), 2u);
  EXPECT_EQ(a.map(0x20), 1u);
  EXPECT_EQ(a.map(3'145'792), 2u);
}

TEST(Dev, S_DEV_2_mount_rows_are_observations) {
  DevicePool pool;
  const auto dev = [](unsigned major, unsigned minor) { return std::uint64_t{major} << 8 | minor; };
  EXPECT_EQ(pool.map(dev(8, 1)), 1u);
  EXPECT_EQ(pool.map(dev(0, 44)), 2u);
  EXPECT_EQ(pool.map(dev(0, 44)), 2u);
  EXPECT_EQ(pool.map(dev(8, 1)), 1u);
  EXPECT_EQ(pool.map(dev(259, 7)), 3u);
}

const SeenTime kNothing{}, kHost{SeenTime::Kind::kHostSpecific, {}},
    kOne{SeenTime::Kind::kCanonical, LogicalTime::seconds(1)};

TEST(Inode, S_INODE_1_numbers_follow_first_sight) {
  InodePool pool(E());
  EXPECT_EQ(pool.map(221'742'951, kNothing).number, 1u);
  EXPECT_EQ(pool.map(998'877'665, kNothing).number, 2u);
  EXPECT_EQ(pool.map(221'742'951, kNothing).number, 1u);
  EXPECT_EQ(pool.host_of(2), 998'877'665u);
}

TEST(Inode, S_INODE_2_a_reused_host_number_is_a_new_file) {
  InodePool pool(E());
  pool.map(5, kNothing);
  pool.map(6, kNothing);
  EXPECT_TRUE(pool.forget(5));
  EXPECT_FALSE(pool.host_of(1));
  EXPECT_EQ(pool.map(5, kNothing).number, 3u);
  EXPECT_FALSE(pool.forget(77));
}

TEST(Inode, S_INODE_3_canonical_times) {
  EXPECT_EQ(SeenTime::classify(1, 0), kOne);
  EXPECT_EQ(SeenTime::classify(0, 0), (SeenTime{SeenTime::Kind::kCanonical, {}}));
  for (const auto& [s, n] : {std::pair<long, long>{1, 5}, {0, 1}, {2, 0}, {-1, 0}, {1'600'000'000, 0}})
    EXPECT_EQ(SeenTime::classify(s, n), kHost);
}

TEST(Inode, S_INODE_4_resolution) {
  const LogicalTime epoch = LogicalTime::seconds(1'798'761'600), one = LogicalTime::seconds(1);
  InodePool pool(epoch);
  EXPECT_EQ(pool.map(10, kHost).time, epoch);
  EXPECT_EQ(pool.map(11, kOne).time, one);
  EXPECT_EQ(pool.map(12, kNothing).time, epoch);
  EXPECT_EQ(pool.map(12, kOne).time, one);
  EXPECT_EQ(pool.map(10, kOne).time, epoch);
  EXPECT_EQ(pool.map(11, kHost).time, one);
}

TEST(Inode, S_INODE_5_touching) {
  Rig rig;
  rig.root(3);
  rig->clock_.add_extra(ns(500));
  EXPECT_EQ(rig.get<InodeAnswer>(rig.send(3, TouchFile{9})).inode.time, E(500));
  EXPECT_EQ(rig.get<InodeAnswer>(rig.send(3, MapInode{9, kOne})).inode.time, E(500));
}

TEST(Inode, S_INODE_6_setting) {
  Rig rig;
  rig.root(3);
  EXPECT_EQ(rig.get<InodeAnswer>(rig.send(3, SetFileTime{9, LogicalTime::seconds(5)})).inode.time,
            LogicalTime::seconds(5));
  EXPECT_EQ(rig.get<InodeAnswer>(rig.send(3, MapInode{9, kHost})).inode.time, LogicalTime::seconds(5));
  EXPECT_TRUE(rig.get<BoolAnswer>(rig.send(3, ForgetInode{9})).value);
}

TEST(Inode, S_INODE_7_first_call_does_not_matter) {
  InodePool pool(E());
  pool.map(1, kNothing);  // a directory read
  EXPECT_EQ(pool.map(1, kHost).time, pool.map(2, kHost).time);
  EXPECT_EQ(InodePool::reserved(2), 1002u);  // INODE-10
}

MountIdPool captured(std::vector<std::uint64_t> table, std::vector<std::uint64_t> unlisted = {}) {
  return MountIdPool(MountOrders{std::move(table), std::move(unlisted), true});
}
using Order = std::vector<std::uint64_t>;

TEST(Mnt, S_MNT_1_captured_order_then_observation) {
  MountIdPool pool = captured({10, 20, 30});
  EXPECT_EQ(pool.map(20), 2u);
  EXPECT_EQ(pool.map(700), 4u);
  EXPECT_EQ(pool.map(701), 5u);
  EXPECT_EQ(pool.map(702), 6u);
  EXPECT_EQ(pool.map(701), 5u);
}

TEST(Mnt, S_MNT_2_mappings_check_their_order) {
  MountIdPool pool;
  const Order order{10, 20, 30};
  EXPECT_EQ(pool.map(20, order), 2u);
  EXPECT_EQ(pool.map(700, order), 4u);
  EXPECT_EQ(pool.map(20, order), 2u);
  for (const Order& other : {Order{10, 99, 30}, Order{10, 20}, Order{10, 20, 30, 40}})
    EXPECT_FALSE(pool.map(20, other));
}

TEST(Mnt, S_MNT_3_the_first_order_stays) {
  MountIdPool pool, empty;
  EXPECT_TRUE(pool.check_order({10, 20, 30}));
  EXPECT_TRUE(pool.check_order({10, 20, 30}));
  EXPECT_FALSE(pool.check_order({10, 99, 30}));
  EXPECT_TRUE(empty.check_order({}));
  EXPECT_FALSE(empty.check_order({10}));
}

TEST(Mnt, S_MNT_4_visible_subsets) {
  MountIdPool pool = captured({10, 20, 30, 40});
  EXPECT_TRUE(pool.check_order({10, 30, 40}));
  EXPECT_EQ(pool.map(30), 3u);
  EXPECT_TRUE(pool.check_order({20, 40}));
  EXPECT_FALSE(pool.check_order({30, 20}));
  EXPECT_FALSE(pool.check_order({10, 10}));
  EXPECT_FALSE(pool.check_order({10, 99, 40}));
}

TEST(Mnt, S_MNT_5_duplicates_are_invalid) {
  EXPECT_FALSE(captured({10, 10}).map(10));
  EXPECT_FALSE(captured({10}, {0}).map(10));
  EXPECT_FALSE(captured({10}, {10}).map(10));
}

TEST(Mnt, S_MNT_6_zero_is_zero) {
  MountIdPool pool = captured({10, 0});
  EXPECT_EQ(pool.map(0), 0u);
  EXPECT_EQ(pool.map(20), 3u);
  EXPECT_EQ(pool.map(0), 0u);
}

TEST(Mnt, S_MNT_7_provenance_rebuilds_the_pool) {
  MountIdPool pool;
  EXPECT_TRUE(pool.check_order({10, 20}));
  EXPECT_EQ(pool.map(700), 3u);
  EXPECT_EQ(pool.map(701), 4u);
  MountOrders orders;
  EXPECT_EQ(pool.provenance(orders), MountIdPool::Provenance::kReady);
  MountIdPool again(orders);
  EXPECT_EQ(again.map(701), 4u);
  EXPECT_EQ(again.map(700), 3u);
  EXPECT_EQ(MountIdPool().provenance(orders), MountIdPool::Provenance::kNone);
}

TEST(Mnt, S_MNT_8_orders_without_mark_are_invalid) {
  MountIdPool pool(MountOrders{{10}, {}, false});
  MountOrders orders;
  EXPECT_FALSE(pool.map(10));
  EXPECT_EQ(pool.provenance(orders), MountIdPool::Provenance::kInvalid);
}

TEST(Mnt, S_MNT_9_an_invalid_pool_answers_only_zero) {
  MountIdPool pool = captured({10, 10});
  MountOrders orders;
  EXPECT_EQ(pool.map(0), 0u);
  EXPECT_FALSE(pool.map(10));
  EXPECT_FALSE(pool.check_order({10}));
  EXPECT_EQ(pool.provenance(orders), MountIdPool::Provenance::kInvalid);
  EXPECT_FALSE(MountIdPool().map(10));  // MNT-5: uninitialised, no order
}

TEST(Mnt, MNT_11_numbers_run_out) {
  MountIdPool pool(MountOrders{{10}, {}, true}, 2);
  EXPECT_EQ(pool.map(20), 2u);
  EXPECT_FALSE(pool.map(30));
  EXPECT_EQ(pool.map(20), 2u);
}

TEST(Port, S_PORT_1_the_whole_range_is_used) {
  PortPool pool = ports(100, 102);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(pool.allocate(sock(i)), 100 + i);
  EXPECT_EQ(pool.release(sock(0)), 100);
  EXPECT_EQ(pool.allocate(sock(3)), 100);
  const auto candidate = pool.candidate();
  EXPECT_FALSE(pool.allocate(sock(4)));
  EXPECT_EQ(pool.candidate(), candidate);
  EXPECT_FALSE(pool.release(sock(4)));
  EXPECT_EQ(pool.release(sock(3)), 100);
  EXPECT_EQ(pool.allocate(sock(4)), 100);
}

TEST(Port, S_PORT_2_bound_ports_are_passed_over) {
  PortPool pool = ports(100, 103);
  pool.add(101, sock(9));
  pool.add(9999, sock(8));  // outside the range
  EXPECT_EQ(pool.allocate(sock(0)), 100);
  EXPECT_EQ(pool.allocate(sock(1)), 102);
  EXPECT_EQ(pool.release(sock(9)), 101);
  EXPECT_EQ(pool.allocate(sock(2)), 103);
  EXPECT_EQ(pool.allocate(sock(3)), 101);
  EXPECT_EQ(pool.release(sock(8)), 9999);
}

TEST(Port, S_PORT_3_unknown_descriptions) {
  PortPool pool = ports(100, 103);
  EXPECT_FALSE(pool.release(sock(1)));
}

TEST(Port, S_PORT_4_the_candidate_does_not_move_back) {
  PortPool pool = ports(100, 109);
  for (int i = 0; i < 3; ++i) pool.allocate(sock(i));
  pool.release(sock(0));
  for (int i = 3; i < 10; ++i) EXPECT_EQ(pool.allocate(sock(i)), 100 + i);
  EXPECT_EQ(pool.allocate(sock(10)), 100);
}

TEST(Port, S_PORT_5_the_range_is_read_at_every_allocation) {
  PortRange range{100, 109};
  PortPool pool([&] { return range; });
  EXPECT_EQ(pool.allocate(sock(0)), 100);
  range = {200, 201};
  EXPECT_EQ(pool.allocate(sock(1)), 200);
  EXPECT_EQ(pool.allocate(sock(2)), 201);
  EXPECT_FALSE(pool.allocate(sock(3)));
}

TEST(Port, PORT_7_ports_are_messages) {
  CoreConfig config = plain();
  config.port_range = [] { return PortRange{50, 51}; };
  Rig rig(config);
  rig.root(3);
  EXPECT_EQ(rig.get<NumberAnswer>(rig.send(3, AllocatePort{sock(1)})).number, 50u);
  rig.send(3, AddPort{51, sock(2)});
  EXPECT_FALSE(rig.get<NumberAnswer>(rig.send(3, AllocatePort{sock(3)})).number);
  EXPECT_EQ(rig.get<NumberAnswer>(rig.send(3, ReleasePort{sock(2)})).number, 51u);
  EXPECT_EQ(rig.get<NumberAnswer>(rig.send(3, MapDevice{77})).number, 1u);
  EXPECT_EQ(rig.get<NumberAnswer>(rig.send(3, MapMountId{10, std::vector<std::uint64_t>{10}})).number, 1u);
  EXPECT_TRUE(rig.get<BoolAnswer>(rig.send(3, CheckMountOrder{{10}})).value);
}

}  // namespace
}  // namespace detrec::core::testing
