// Commands and replies, one client against a scripted target.
#include <gtest/gtest.h>

#include <csignal>

#include "tests/gdb/unit/fake_target.h"

namespace detrec::gdbstub {
namespace {

TEST(Handshake, TellsWhatItCan) {
  Rig rig;
  const auto reply = rig.ask("qSupported:multiprocess+;xmlRegisters=i386");
  for (const char* feature :
       {"QStartNoAckMode+", "multiprocess+", "swbreak+", "hwbreak+", "vContSupported+", "ReverseStep+",
        "ReverseContinue+", "ConditionalBreakpoints+", "QPassSignals+", "QProgramSignals+",
        "qXfer:features:read+", "qXfer:threads:read+", "qXfer:libraries-svr4:read+", "qXfer:auxv:read+",
        "qXfer:exec-file:read+", "qXfer:siginfo:read+", "qXfer:siginfo:write+"}) {
    EXPECT_NE(reply.find(feature), std::string::npos) << feature;
  }
  EXPECT_EQ(reply.find("QNonStop"), std::string::npos);
  EXPECT_EQ(rig.ask("vCont?"), "vCont;c;C;s;S;r;t");
  EXPECT_EQ(rig.ask("QNonStop:0"), "OK");
  EXPECT_EQ(rig.ask("QNonStop:1").substr(0, 2), "E.");
  EXPECT_EQ(rig.ask("qAttached:64"), "1");
  EXPECT_EQ(rig.ask("qSymbol::"), "OK");
  EXPECT_EQ(rig.ask("!"), "OK");
  EXPECT_EQ(rig.ask("qC"), "QCp64.64");
}

TEST(Acks, UntilSwitchedOff) {
  FakeTarget target;
  Session session(target);
  auto link = std::make_shared<FakeLink>();
  session.connect(link);
  session.receive("$qC#b4");
  EXPECT_EQ(link->sent, "+$QC64#fe");
  session.receive("-");  // it did not arrive
  EXPECT_EQ(link->sent, "+$QC64#fe$QC64#fe");
  link->sent.clear();
  session.receive("+$qC#b5");
  EXPECT_EQ(link->sent, "-");
  link->sent.clear();
  session.receive("$QStartNoAckMode#b0");
  EXPECT_EQ(link->sent, "+$OK#9a");
  link->sent.clear();
  session.receive("+-$qC#b4");
  EXPECT_EQ(link->sent, "$QC64#fe");
  link->sent.clear();
  session.receive("$qC#00");  // checksums need not be looked at any more
  EXPECT_EQ(link->sent, "$QC64#fe");
}

TEST(Threads, Lists) {
  Rig rig;
  EXPECT_EQ(rig.ask("qfThreadInfo"), "mp64.64,p64.65");
  EXPECT_EQ(rig.ask("qsThreadInfo"), "l");
  EXPECT_EQ(rig.ask("qThreadExtraInfo,p64.65"), packet::hex_text("second: waits"));
  EXPECT_EQ(rig.ask("Tp64.65"), "OK");
  EXPECT_EQ(rig.ask("Tp64.66"), "E03");
  rig.target.thread_list[0].name = "<a&b>";
  const auto xml = rig.ask("qXfer:threads:read::0,1000");
  EXPECT_NE(xml.find("id=\"p64.65\" core=\"3\" name=\"second\">waits<"), std::string::npos);
  EXPECT_NE(xml.find("name=\"&lt;a&amp;b&gt;\""), std::string::npos);
}

TEST(Threads, WithoutTheMultiprocessExtension) {
  Rig rig("");
  EXPECT_EQ(rig.ask("qfThreadInfo"), "m64,65");
  EXPECT_EQ(rig.ask("Hg65"), "OK");
  EXPECT_EQ(rig.ask("?").substr(0, 14), "T05thread:64;0");
}

TEST(Registers, OfTheChosenThread) {
  Rig rig;
  rig.target.values[FakeTarget::kSecond].rip = 0x1122;
  EXPECT_EQ(rig.ask("p10"), "0000000000000000");
  EXPECT_EQ(rig.ask("Hgp64.65"), "OK");
  EXPECT_EQ(rig.ask("p10"), "2211000000000000");
  EXPECT_EQ(rig.ask("g").size(), registers::Layout(VectorLevel::kSse).total_size() * 2);
  EXPECT_EQ(rig.ask("P10=3344000000000000"), "OK");
  EXPECT_EQ(rig.target.values[FakeTarget::kSecond].rip, 0x4433u);
  EXPECT_EQ(rig.ask("P10=33"), "E16");
  EXPECT_EQ(rig.ask("P3c=00"), "E16");
  EXPECT_EQ(rig.ask("p3c"), "E16");
  auto all = rig.ask("g");
  all.replace(0, 16, "0100000000000000");
  EXPECT_EQ(rig.ask("G" + all), "OK");
  EXPECT_EQ(rig.target.values[FakeTarget::kSecond][Gpr::kRax], 1u);
  rig.target.writable = false;
  EXPECT_EQ(rig.ask("P0=0000000000000000").substr(0, 2), "E.");
}

TEST(Registers, GdbMayMoveBehindTheProgramsOwnTrap) {
  Rig rig;
  rig.target.writable = false;
  rig.target.values[FakeTarget::kFirst].rip = 0x1000;
  EXPECT_EQ(rig.ask("P10=0110000000000000").substr(0, 2), "E.");
  rig.target.memory[0] = 0xcc;
  EXPECT_EQ(rig.ask("P10=0110000000000000"), "OK");
  EXPECT_EQ(rig.ask("P10=0210000000000000").substr(0, 2), "E.");
}

TEST(Memory, ReadsAndWrites) {
  Rig rig;
  rig.target.memory[0] = '#';
  rig.target.memory[1] = 0xfe;
  EXPECT_EQ(rig.ask("m1000,2"), "23fe");
  EXPECT_EQ(rig.ask("x1000,2"), "b}\x03\xfe");
  EXPECT_EQ(rig.ask("m1fff,10"), "00");  // as much as there is
  EXPECT_EQ(rig.ask("m2000,1"), "E0e");
  EXPECT_EQ(rig.ask("m1000,0"), "E16");
  EXPECT_EQ(rig.ask("mffffffffffffffff,ffffffffffffffff"), "E0e");
  EXPECT_EQ(rig.ask("M1002,2:abcd"), "OK");
  EXPECT_EQ(rig.target.memory[3], 0xcd);
  EXPECT_EQ(rig.ask("M1002,2:abc"), "E16");
  EXPECT_EQ(rig.ask("M1002,3:abcd"), "E16");
  EXPECT_EQ(rig.ask("X1000,0:"), "OK");
  EXPECT_EQ(rig.ask("X9000,1:a").substr(0, 2), "E.");
  rig.target.writable = false;
  EXPECT_EQ(rig.ask("X1000,1:a"), "E.memory of a recording cannot be changed");
}

// What a client has changed goes with it, however it goes.
TEST(Lifetime, TheTargetHearsThatTheClientIsGone) {
  for (const auto* packet : {"D;64", "vKill;64", "k", ""}) {
    Rig rig;
    if (*packet != 0) rig.send(packet);
    EXPECT_EQ(rig.target.clients_gone, *packet != 0 ? 1 : 0) << packet;
    rig.disconnect();
    EXPECT_EQ(rig.target.clients_gone, *packet != 0 ? 2 : 1) << packet;
  }
}

TEST(Memory, Search) {
  Rig rig;
  rig.target.memory[0x800] = 'a';
  rig.target.memory[0x801] = 'b';
  EXPECT_EQ(rig.ask("qSearch:memory:1000;1000;ab"), "1,1800");
  EXPECT_EQ(rig.ask("qSearch:memory:1000;801;ab"), "0");
  EXPECT_EQ(rig.ask("qSearch:memory:1000;ffffffffffffffff;xy"), "0");
  EXPECT_EQ(rig.ask("qSearch:memory:9000;10;ab"), "E0e");
  EXPECT_EQ(rig.ask("qSearch:memory:1000;1000;"), "E16");
}

TEST(Resume, Forms) {
  Rig rig;
  const auto request = [&rig](std::string_view payload) {
    EXPECT_EQ(rig.ask(payload), "(none)") << payload;
    rig.target.stop(StepDone{});
    rig.take();
    return rig.target.requests.back();
  };
  auto r = request("vCont;c");
  EXPECT_EQ(r.motion, Motion::kContinue);
  EXPECT_EQ(r.direction, Direction::kForward);
  EXPECT_FALSE(r.only_this_thread);
  r = request("vCont;s:p64.65;c:p64.-1");
  EXPECT_EQ(r.motion, Motion::kStep);
  EXPECT_EQ(r.thread, FakeTarget::kSecond);
  EXPECT_FALSE(r.only_this_thread);
  r = request("vCont;r1000,1010:p64.65");
  EXPECT_EQ(r.motion, Motion::kStepRange);
  EXPECT_EQ(r.range, (AddressRange{{0x1000}, {0x1010}}));
  EXPECT_TRUE(r.only_this_thread);
  r = request("vCont;C1e:p64.64;c");
  EXPECT_EQ(r.motion, Motion::kContinue);
  EXPECT_EQ(r.signal, Signal{SIGUSR1});
  EXPECT_EQ(r.thread, FakeTarget::kFirst);
  r = request("vCont;S0b:p64.64;t");
  EXPECT_EQ(r.motion, Motion::kStep);
  EXPECT_EQ(r.signal, Signal{SIGSEGV});
  EXPECT_EQ(request("bc").direction, Direction::kBackward);
  r = request("bs");
  EXPECT_EQ(r.direction, Direction::kBackward);
  EXPECT_EQ(r.motion, Motion::kStep);
  EXPECT_EQ(request("s").motion, Motion::kStep);
  EXPECT_EQ(request("C0b").signal, Signal{SIGSEGV});
  request("c1234");
  EXPECT_EQ(rig.target.values[FakeTarget::kFirst].rip, 0x1234u);
  EXPECT_EQ(rig.ask("vCont;q"), "E16");
  EXPECT_EQ(rig.ask("vCont;t").substr(0, 3), "T05");
}

TEST(Resume, PassesSignalsOn) {
  Rig rig;
  EXPECT_EQ(rig.ask("QPassSignals:e;1e;ff"), "OK");
  EXPECT_EQ(rig.ask("QPassSignals:x"), "E16");
  EXPECT_EQ(rig.ask("QProgramSignals:0;1;2"), "OK");
  rig.send("vCont;c");
  EXPECT_EQ(rig.target.requests.back().pass_signals, (std::set<Signal>{{SIGALRM}, {SIGUSR1}}));
}

TEST(StopReply, Reasons) {
  const auto reply = [](const StopReason& reason) {
    Rig rig;
    rig.target.values[FakeTarget::kFirst].rip = 0x1234;
    rig.send("vCont;c");
    rig.target.stop(reason);
    return rig.only();
  };
  const std::string rest = "06:0000000000000000;07:0000000000000000;10:3412000000000000;";
  EXPECT_EQ(reply(StepDone{}), "T05thread:p64.64;" + rest);
  EXPECT_EQ(reply(BreakpointHit{}), "T05thread:p64.64;swbreak:;" + rest);
  EXPECT_EQ(reply(BreakpointHit{BreakpointKind::kHardware}), "T05thread:p64.64;hwbreak:;" + rest);
  EXPECT_EQ(reply(WatchHit{BreakpointKind::kWrite, {0xabc}}), "T05thread:p64.64;watch:abc;" + rest);
  EXPECT_EQ(reply(WatchHit{BreakpointKind::kRead, {0xabc}}), "T05thread:p64.64;rwatch:abc;" + rest);
  EXPECT_EQ(reply(WatchHit{BreakpointKind::kAccess, {0xabc}}), "T05thread:p64.64;awatch:abc;" + rest);
  EXPECT_EQ(reply(SignalArrived{{SIGUSR1}}), "T1ethread:p64.64;" + rest);
  EXPECT_EQ(reply(Interrupted{}), "T02thread:p64.64;" + rest);
  EXPECT_EQ(reply(HistoryBegin{}), "T05thread:p64.64;replaylog:begin;" + rest);
  EXPECT_EQ(reply(HistoryEnd{}), "T05thread:p64.64;replaylog:end;" + rest);
  EXPECT_EQ(reply(Exited{3}), "W03;process:64");
  EXPECT_EQ(reply(Killed{{SIGKILL}}), "X09;process:64");
}

TEST(StopReply, NoReasonsTheClientDoesNotKnow) {
  Rig rig("");
  rig.send("vCont;c");
  rig.target.stop(BreakpointHit{});
  EXPECT_EQ(rig.only().find("swbreak"), std::string::npos);
}

TEST(StopReply, ChoosesThreadsByDirection) {
  Rig rig;
  rig.target.values[FakeTarget::kSecond].rip = 2;
  rig.send("vCont;c");
  rig.target.stop(StepDone{}, FakeTarget::kSecond);
  EXPECT_EQ(rig.session.client().general.thread, 101);
  EXPECT_EQ(rig.session.client().to_resume.thread, 101);
  rig.send("bc");
  rig.target.stop(StepDone{}, FakeTarget::kFirst);
  EXPECT_EQ(rig.session.client().general, packet::ThreadSelector{});
  EXPECT_EQ(rig.session.client().to_resume, packet::ThreadSelector{});
  rig.take();
  EXPECT_EQ(rig.ask("qC"), "QCp64.64");
}

TEST(StopReply, FromWithinResume) {
  Rig rig;
  rig.target.stops_at_once = StepDone{};
  EXPECT_EQ(rig.ask("vCont;s").substr(0, 3), "T05");
  EXPECT_EQ(rig.ask("bs").substr(0, 3), "T05");
}

TEST(Monitor, LinesThenTheEnd) {
  Rig rig;
  EXPECT_EQ(rig.ask("qRcmd," + packet::hex_text("when")), "(none)");
  EXPECT_EQ(rig.target.commands, std::vector<std::string>{"when"});
  rig.target.reply->line("here");
  EXPECT_EQ(rig.only(), "O" + packet::hex_text("here\n"));
  rig.send("qC");  // waits
  rig.raw("\x03");
  EXPECT_EQ(rig.target.interrupts, 1);
  EXPECT_TRUE(rig.take().empty());
  rig.target.reply->finish(Done{});
  EXPECT_EQ(rig.take(), (std::vector<std::string>{"OK", "QCp64.64"}));
  rig.target.reply->finish(Done{});  // once is enough
  rig.target.reply->line("late");
  EXPECT_TRUE(rig.take().empty());
  rig.send("qRcmd," + packet::hex_text("bad"));
  rig.target.reply->finish(Error{EINVAL, "what?"});
  EXPECT_EQ(rig.take(), (std::vector<std::string>{"O" + packet::hex_text("what?\n"), "E16"}));
  EXPECT_EQ(rig.ask("qRcmd,6"), "E16");
}

TEST(Monitor, OutlivesTheClientAndTheSession) {
  std::shared_ptr<MonitorReply> reply;
  {
    Rig rig;
    rig.send("qRcmd,61");
    reply = rig.target.reply;
    rig.disconnect();
    reply->line("to nobody");
    rig.connect("");
    rig.send("qC");  // the target is still busy with it
    EXPECT_TRUE(rig.take().empty());
    reply->finish(Done{});
    EXPECT_EQ(rig.take().back(), "QC64");
    rig.send("qRcmd,62");
    reply = rig.target.reply;
  }
  reply->line("to nobody at all");
  reply->finish(Done{});
}

TEST(Output, WhileTheTargetRuns) {
  Rig rig;
  rig.target.observer->on_output("nobody waits");
  EXPECT_TRUE(rig.take().empty());
  rig.send("vCont;c");
  rig.target.observer->on_output("hello");
  EXPECT_EQ(rig.only(), "O" + packet::hex_text("hello"));
  rig.target.observer->on_output(std::string(20'000, 'x'));
  EXPECT_EQ(rig.take().size(), 3u);
}

TEST(Lifetime, DetachAndKillAndRun) {
  Rig rig;
  rig.ask("Z0,1000,1");
  EXPECT_EQ(rig.ask("D;64"), "OK");
  EXPECT_TRUE(rig.session.breakpoints().all().empty());
  EXPECT_EQ(rig.ask("?"), "W00");
  EXPECT_EQ(rig.ask("qfThreadInfo"), "l");
  EXPECT_EQ(rig.ask("vCont;c"), "W00");
  EXPECT_EQ(rig.ask("vRun;"), "(none)");
  EXPECT_EQ(rig.target.restarts, 1);
  rig.target.stop(StepDone{});
  EXPECT_EQ(rig.only().substr(0, 4), "T05t");
  EXPECT_EQ(rig.ask("vKill;64"), "OK");
  rig.disconnect();
  rig.connect("multiprocess+");
  EXPECT_EQ(rig.ask("?").substr(0, 4), "T05t");
  EXPECT_EQ(rig.ask("R00"), "(none)");
  EXPECT_EQ(rig.target.restarts, 2);
  rig.target.stop(StepDone{});
  EXPECT_TRUE(rig.take().empty());
  rig.send("k");
  EXPECT_TRUE(rig.link->closed);
}

TEST(Lldb, HasItsOwnForms) {
  Rig rig;
  EXPECT_EQ(rig.ask("QThreadSuffixSupported"), "");
  rig.target.memory[0] = 'b';
  EXPECT_EQ(rig.ask("x0,0"), "OK");
  EXPECT_EQ(rig.ask("x1000,1"), "b");
  EXPECT_NE(rig.ask("qHostInfo").find("watchpoint_exceptions_received:after;"), std::string::npos);
  EXPECT_NE(rig.ask("qProcessInfo").find("pid:64;"), std::string::npos);
  rig.target.info.mappings = {{{{0x1000}, {0x2000}}, true, false, true}};
  EXPECT_EQ(rig.ask("qMemoryRegionInfo:1800"), "start:1000;size:1000;permissions:rx;name:;");
  EXPECT_EQ(rig.ask("qMemoryRegionInfo:10"), "start:0;size:1000;");
}

}  // namespace
}  // namespace detrec::gdbstub
