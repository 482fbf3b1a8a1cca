// Each way in which stubs are known to have gone wrong (the specification's list), shown not to happen here.
// Two more of them, a `g` that disagrees with target.xml and types that are too new, are in
// registers_test.cc, and every byte in a payload is in codec_test.cc.
#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>

#include "tests/gdb/unit/fake_target.h"

namespace detrec::gdbstub {
namespace {

TEST(KnownBad, ErrorReplyToAResume) {
  Rig rig;
  rig.target.resume_answer = Error{0, "cannot"};
  for (const char* payload : {"vCont;c", "vCont;s:p64.64", "c", "s", "bc", "bs", "C05"}) {
    rig.send(payload);
    const auto replies = rig.take();
    ASSERT_EQ(replies.size(), 2u) << payload;
    EXPECT_EQ(replies[0], "O" + packet::hex_text("cannot\n"));
    EXPECT_EQ(replies[1].substr(0, 4), "T05t");
  }
}

TEST(KnownBad, InterruptRacesWithAStop) {
  Rig rig;
  rig.send("vCont;c");
  rig.target.stop(BreakpointHit{});
  EXPECT_EQ(rig.take().size(), 1u);
  rig.raw("\x03");  // too late
  EXPECT_EQ(rig.ask("m1000,1"), "00");
  EXPECT_EQ(rig.target.interrupts, 0);
}

TEST(KnownBad, MoreThanOneStopReplyAfterInterrupts) {
  Rig rig;
  rig.send("bc");
  rig.raw("\x03\x03");
  rig.send("m1000,1");  // waits for the stop
  EXPECT_TRUE(rig.take().empty());
  EXPECT_EQ(rig.target.interrupts, 2);
  rig.target.stop(Interrupted{});
  rig.target.stop(Interrupted{});  // a target that is wrong
  const auto replies = rig.take();
  ASSERT_EQ(replies.size(), 2u);
  EXPECT_EQ(replies[0].substr(0, 4), "T02t");
  EXPECT_EQ(replies[1], "00");
}

TEST(KnownBad, PacketSizeIsHexadecimal) {
  Rig rig;
  EXPECT_EQ(rig.ask("qSupported").substr(0, 18), "PacketSize=100000;");
  // And it is kept, in replies of every kind.
  rig.target.memory.assign(0x300000, '#');
  EXPECT_EQ(rig.ask("m1000,ffffffff").size(), packet::kMaxPacket);
  EXPECT_LE(rig.ask("x1000,ffffffff").size(), packet::kMaxPacket);
  rig.target.fake_files.content["/f"] = std::string(0x300000, '$');
  EXPECT_EQ(rig.ask("vFile:open:" + packet::hex_text("/f") + ",0,0"), "F0");
  EXPECT_LE(rig.ask("vFile:pread:0,ffffffff,0").size(), packet::kMaxPacket);
}

TEST(KnownBad, BinaryReadPrefixByClient) {
  Rig gdb, lldb;
  EXPECT_EQ(lldb.ask("QEnableErrorStrings"), "");
  EXPECT_EQ(gdb.ask("x1000,1"), std::string("b\0", 2));
  EXPECT_EQ(lldb.ask("x1000,1"), std::string("\0", 1));
}

TEST(KnownBad, UnknownPackets) {
  Rig rig;
  for (const char* payload : {"vMustReplyEmpty",
                              "qTStatus",
                              "QThreadOptions;1",
                              "Qbtrace:bts",
                              "QAgent:1",
                              "qMemTags:0,1:1",
                              "jThreadsInfo",
                              "_M10,rw",
                              "A1,0,61",
                              "vCont_",
                              "qCRC:0,1",
                              "qXfer:osdata:read::0,10",
                              "qXfer:memory-map:read::0,10",
                              "qXfer:auxv:write::0:",
                              "vFile:rename:61",
                              "vAttach;1",
                              "vFlashErase:0,1",
                              "qOffsets",
                              "Z9,0,1",
                              "z5,0,1",
                              "QDisableRandomization:1",
                              "b",
                              "bx",
                              "~",
                              "\xff",
                              "!x",
                              "?x",
                              "gg",
                              "kk"}) {
    EXPECT_EQ(rig.ask(payload), "") << payload;
  }
  EXPECT_EQ(rig.ask(""), "");
}

TEST(KnownBad, DeadThreads) {
  Rig rig;
  EXPECT_EQ(rig.ask("Hgp64.99"), "E03");
  EXPECT_EQ(rig.ask("Hcp64.99"), "E03");
  EXPECT_EQ(rig.ask("Hgp1.1"), "E03");
  EXPECT_EQ(rig.ask("Hgp64.65"), "OK");
  rig.target.values[FakeTarget::kSecond][Gpr::kRax] = 7;
  const std::string second = rig.ask("g");
  // It dies while it is chosen: the current one answers, or gdb's user could not go on.
  rig.target.thread_list.pop_back();
  rig.target.values.erase(FakeTarget::kSecond);
  const std::string current = rig.ask("g");
  EXPECT_NE(current, second);
  // gdb chooses it again and does not look at the answer.
  EXPECT_EQ(rig.ask("Hgp64.65"), "E03");
  EXPECT_EQ(rig.ask("g"), current);
  EXPECT_EQ(rig.ask("Hgp0.0"), "OK");
  EXPECT_EQ(rig.ask("g").size(), registers::Layout(VectorLevel::kSse).total_size() * 2);
  rig.send("vCont;s:p64.65;c");
  EXPECT_FALSE(rig.target.requests.back().thread);
}

TEST(KnownBad, FirstStopHasASignal) {
  Rig rig;
  EXPECT_EQ(rig.ask("?").substr(0, 3), "T05");
  rig.send("bc");
  rig.target.stop(HistoryBegin{});
  EXPECT_EQ(rig.only().substr(0, 3), "T05");
  EXPECT_EQ(rig.ask("?").substr(0, 3), "T05");
}

TEST(KnownBad, RefusedWatchpointsLeaveNothingBehind) {
  Rig rig;
  rig.target.breakpoint_answer = Error{0, "no"};
  for (int i = 0; i < 100; ++i) EXPECT_EQ(rig.ask("Z2,1000,4"), "E.no");
  EXPECT_TRUE(rig.session.breakpoints().all().empty());
  rig.target.breakpoint_answer = Done{};
  EXPECT_EQ(rig.ask("Z2,1000,4"), "OK");
  EXPECT_EQ(rig.ask("z2,1000,4"), "OK");
  rig.send("vCont;c");
  EXPECT_TRUE(rig.target.requests.back().change.empty());
}

TEST(KnownBad, EmptyAndWrappingWatchpoints) {
  Rig rig;
  EXPECT_EQ(rig.ask("Z2,1000,0").substr(0, 2), "E.");
  EXPECT_EQ(rig.ask("Z3,ffffffffffffffff,2").substr(0, 2), "E.");
  EXPECT_EQ(rig.ask("Z4,fffffffffffffff0,ffffffffffffffff").substr(0, 2), "E.");
  EXPECT_EQ(rig.ask("Z2,fffffffffffffff0,10").substr(0, 2), "E.");  // its end would be 0
  EXPECT_EQ(rig.ask("Z2,ffffffffffffffef,10"), "OK");
  EXPECT_EQ(rig.ask("Z2,1000,100000"), "OK");
  EXPECT_EQ(rig.ask("Z2,1,10000000000000000"), "E16");
}

TEST(KnownBad, BreakpointsWhereNothingIsMapped) {
  Rig rig;
  for (const char* address : {"0", "ffffffffff600000", "ffffffffffffffff", "800000000000"}) {
    EXPECT_EQ(rig.ask("Z0," + std::string(address) + ",1"), "OK") << address;
    EXPECT_EQ(rig.ask("z0," + std::string(address) + ",1"), "OK") << address;
  }
  rig.target.breakpoint_answer = Error{EFAULT, "nothing #1 mapped*"};
  EXPECT_EQ(rig.ask("Z0,0,1"), "E.nothing ?1 mapped?");
}

TEST(KnownBad, OwnTrapUnderABreakpoint) {
  Rig rig;
  rig.ask("Z0,1000,1");
  rig.send("vCont;c");
  rig.target.stop(BreakpointHit{});
  EXPECT_NE(rig.only().find("swbreak:;"), std::string::npos);
  rig.send("vCont;c");
  rig.target.stop(SignalArrived{{SIGTRAP}});  // the program's: no breakpoint of the client's
  const auto reply = rig.only();
  EXPECT_EQ(reply.substr(0, 3), "T05");
  EXPECT_EQ(reply.find("swbreak"), std::string::npos);
}

TEST(KnownBad, TwoBreakpointsAtOneAddress) {
  Rig rig;
  EXPECT_EQ(rig.ask("Z0,1000,1"), "OK");
  EXPECT_EQ(rig.ask("Z0,1000,1;X3,220127"), "OK");
  EXPECT_EQ(rig.session.breakpoints().all().size(), 1u);
  EXPECT_EQ(rig.ask("z0,1000,1"), "OK");
  EXPECT_TRUE(rig.session.breakpoints().all().empty());
  EXPECT_EQ(rig.ask("z0,1000,1"), "OK");
}

TEST(KnownBad, TransferBeyondTheEnd) {
  Rig rig;
  EXPECT_EQ(rig.ask("qXfer:auxv:read::10,100"), "l");
  EXPECT_EQ(rig.ask("qXfer:auxv:read::ffffffffffffffff,ffffffffffffffff"), "l");
  EXPECT_EQ(rig.ask("qXfer:auxv:read::8,4"), "m" + std::string(4, '\0'));
  EXPECT_EQ(rig.ask("qXfer:auxv:read::8,8"), "l" + std::string(8, '\0'));
  EXPECT_EQ(rig.ask("qXfer:auxv:read::8"), "E16");
  EXPECT_EQ(rig.ask("qXfer:auxv:read"), "E16");
  EXPECT_EQ(rig.ask("qXfer:features:read:other.xml:0,100"), "E02");
}

TEST(KnownBad, SpecialBytesInBinaryPayloads) {
  Rig rig;
  const std::string special = "#$}*:\x03";
  EXPECT_EQ(rig.ask("X1000,6:" + packet::escape(special)), "OK");
  EXPECT_EQ(std::string(rig.target.memory.begin(), rig.target.memory.begin() + 6), special);
  rig.target.siginfo.assign(128, 0);
  EXPECT_EQ(rig.ask("qXfer:siginfo:write::2:" + packet::escape(special)), "6");
  EXPECT_EQ(std::string(rig.target.siginfo.begin() + 2, rig.target.siginfo.begin() + 8), special);
  EXPECT_EQ(rig.ask("qXfer:siginfo:read::2,6"), "m" + packet::escape(special));
  EXPECT_EQ(rig.ask("qXfer:siginfo:write::7f:ab"), "E16");
}

TEST(KnownBad, ReconnectAfterACrash) {
  Rig rig;
  rig.ask("Z0,1000,1");
  rig.ask("Z2,1800,8");
  rig.send("vCont;c");
  EXPECT_EQ(rig.target.requests.back().change.added.size(), 2u);
  rig.raw("$half a pack");
  rig.disconnect();  // while the target runs
  EXPECT_EQ(rig.target.interrupts, 1);
  rig.link = std::make_shared<FakeLink>();
  rig.session.connect(rig.link);
  rig.send("?");
  EXPECT_TRUE(rig.take().empty());
  rig.target.stop(Interrupted{});
  EXPECT_EQ(rig.only().substr(0, 3), "T02");  // the answer to ?, and no stop reply of the first client's
  rig.send("c");
  EXPECT_EQ(rig.target.requests.back().change.removed.size(), 2u);
  EXPECT_TRUE(rig.target.requests.back().breakpoints->empty());
}

TEST(KnownBad, FilesStayOpenAfterTheClient) {
  Rig rig;
  rig.target.fake_files.content["/f"] = "x";
  for (int i = 0; i < 10; ++i) rig.ask("vFile:open:" + packet::hex_text("/f") + ",0,0");
  EXPECT_EQ(rig.target.fake_files.open_count, 10);
  rig.disconnect();
  EXPECT_EQ(rig.target.fake_files.open_count, 0);
}

TEST(KnownBad, AClientThatSendsForEverWhileTheTargetRuns) {
  Rig rig;
  rig.send("vCont;c");
  const auto packet = packet::frame(std::string(100'000, 'm'));
  for (int i = 0; i < 1000 && !rig.link->closed; ++i) rig.raw(packet);
  EXPECT_TRUE(rig.link->closed);
}

}  // namespace
}  // namespace detrec::gdbstub
