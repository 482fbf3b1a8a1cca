// The table of breakpoints, and Z packets.
#include <gtest/gtest.h>

#include "tests/gdb/unit/fake_target.h"

namespace detrec::gdbstub {
namespace {

Breakpoint at(std::uint64_t address, std::vector<Bytecode> conditions = {}) {
  return {{BreakpointKind::kSoftware, {address}, 1}, std::move(conditions)};
}

TEST(BreakpointTable, WhatComesBackIsNoChange) {
  BreakpointTable table;
  table.insert(at(1));
  table.insert(at(2));
  EXPECT_EQ(table.take_change().added.size(), 2u);
  table.remove(at(1).spec);
  table.remove(at(2).spec);
  table.insert(at(2));
  table.insert(at(1));
  EXPECT_TRUE(table.take_change().empty());
  table.remove(at(1).spec);
  const auto change = table.take_change();
  EXPECT_EQ(change.removed, std::vector<BreakpointSpec>{at(1).spec});
  EXPECT_TRUE(change.added.empty());
  EXPECT_TRUE(table.take_change().empty());
}

TEST(BreakpointTable, NewConditionsAreAChange) {
  BreakpointTable table;
  table.insert(at(1));
  (void)table.take_change();
  table.insert(at(1, {{0x27}}));
  const auto change = table.take_change();
  EXPECT_EQ(change.removed.size(), 1u);
  ASSERT_EQ(change.added.size(), 1u);
  EXPECT_EQ(change.added[0].conditions.size(), 1u);
}

TEST(BreakpointTable, NeverAppliedIsNeverRemoved) {
  BreakpointTable table;
  table.insert(at(1));
  table.remove(at(1).spec);
  EXPECT_TRUE(table.take_change().empty());
  table.insert(at(1));
  (void)table.take_change();
  table.clear();
  EXPECT_EQ(table.take_change().removed.size(), 1u);
}

TEST(BreakpointPackets, KindsAndLengths) {
  Rig rig;
  EXPECT_EQ(rig.ask("Z0,1000,1"), "OK");
  EXPECT_EQ(rig.ask("Z1,1000,1"), "OK");
  EXPECT_EQ(rig.ask("Z2,1000,3"), "OK");
  EXPECT_EQ(rig.ask("Z3,1000,3"), "OK");
  EXPECT_EQ(rig.ask("Z4,1000,12345"), "OK");
  EXPECT_EQ(rig.session.breakpoints().all().size(), 5u);
  EXPECT_TRUE(rig.session.breakpoints().all().contains({BreakpointKind::kAccess, {0x1000}, 0x12345, {100}}));
  EXPECT_EQ(rig.ask("z2,1000,3"), "OK");
  EXPECT_EQ(rig.session.breakpoints().all().size(), 4u);
  for (const char* payload : {"Z0", "Z0,", "Z0,1000", "Z0,1000,", "Z0,x,1", "Z,1,1", "z0,1000,1x"}) {
    EXPECT_EQ(rig.ask(payload), "E16") << payload;
  }
}

TEST(BreakpointPackets, BelongToTheChosenProcess) {
  Rig rig;
  const ThreadRef other{{200}, {200}};
  rig.target.thread_list.push_back({other, "other"});
  rig.ask("Z0,1000,1");
  EXPECT_EQ(rig.ask("Hgpc8.0"), "OK");
  rig.ask("Z0,1000,1");
  EXPECT_EQ(rig.session.breakpoints().all().size(), 2u);
  rig.ask("Hgp64.0");
  rig.ask("z0,1000,1");
  const auto& left = rig.session.breakpoints().all();
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left.begin()->first.process, ProcessId{200});
}

TEST(BreakpointPackets, Conditions) {
  Rig rig;
  EXPECT_EQ(rig.ask("Z0,1000,1;X3,220027X3,220127"), "OK");
  const auto& conditions = rig.session.breakpoints().all().begin()->second.conditions;
  EXPECT_EQ(conditions, (std::vector<Bytecode>{{0x22, 0, 0x27}, {0x22, 1, 0x27}}));
  for (const char* payload :
       {"Z0,1000,1;X3,2200", "Z0,1000,1;X", "Z0,1000,1;X3", "Z0,1000,1;X3,2200zz", "Z0,1000,1;Y",
        "Z0,1000,1;Xffffffffffffffff,00", "Z0,1000,1;X8000000000000001,0000"}) {
    EXPECT_EQ(rig.ask(payload), "E16") << payload;
  }
}

TEST(BreakpointPackets, AreToldAtTheResume) {
  Rig rig;
  rig.ask("Z0,1000,1");
  EXPECT_TRUE(rig.target.requests.empty());
  rig.send("vCont;c");
  EXPECT_EQ(rig.target.requests.back().change.added.size(), 1u);
  EXPECT_EQ(rig.target.requests.back().breakpoints->size(), 1u);
  rig.target.stop(BreakpointHit{});
  rig.take();
  rig.ask("z0,1000,1");
  rig.ask("Z0,1000,1");
  rig.send("vCont;c");
  EXPECT_TRUE(rig.target.requests.back().change.empty());
}

}  // namespace
}  // namespace detrec::gdbstub
