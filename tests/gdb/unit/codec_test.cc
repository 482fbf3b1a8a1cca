// Framing, hexadecimal text, thread ids and signal numbers.
#include <gtest/gtest.h>

#include <csignal>

#include "gdbstub/packet/cursor.h"
#include "gdbstub/packet/framer.h"
#include "gdbstub/packet/hex.h"
#include "gdbstub/packet/signal_numbers.h"
#include "gdbstub/packet/thread_id.h"

namespace detrec::gdbstub::packet {
namespace {

std::vector<Item> items(Framer& framer) {
  std::vector<Item> result;
  while (auto item = framer.next()) result.push_back(*item);
  return result;
}

std::string kinds(const std::vector<Item>& list) {
  std::string text;
  for (const auto& item : list) text += "PB+-i"[static_cast<int>(item.kind)];
  return text;
}

TEST(Framer, TellsPacketsAcksAndInterruptsApart) {
  Framer framer;
  framer.append("+$OK#9a-\x03junk$m0,4#fd$#00");
  const auto list = items(framer);
  EXPECT_EQ(kinds(list), "+P-iPP");
  EXPECT_EQ(list[1].payload, "OK");
  EXPECT_EQ(list[4].payload, "m0,4");
  EXPECT_EQ(list[5].payload, "");
}

TEST(Framer, TakesBytesOneByOne) {
  Framer framer;
  std::string seen;
  for (const char c : std::string("$qC#b4\x03+$OK#9a")) {
    framer.append({&c, 1});
    for (const auto& item : items(framer)) seen += "PB+-i"[static_cast<int>(item.kind)] + item.payload;
  }
  EXPECT_EQ(seen, "PqCi+POK");
}

TEST(Framer, RefusesWrongChecksums) {
  Framer framer;
  framer.append("$OK#9b$OK#9A$OK#xx");
  const auto list = items(framer);
  EXPECT_EQ(kinds(list), "BPB");
  EXPECT_EQ(list[0].payload, "OK");
}

TEST(Framer, StartsAgainAtADollar) {
  Framer framer;
  framer.append("$m0,4$OK#9a");
  const auto list = items(framer);
  EXPECT_EQ(kinds(list), "P");
  EXPECT_EQ(list[0].payload, "OK");
}

// Known bad: binary payload containing #$}*: and the interrupt byte.
TEST(Framer, CarriesEveryByte) {
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  all += "#$}*:\x03}]";
  Framer framer;
  framer.append(frame(escape(all)));
  const auto list = items(framer);
  ASSERT_EQ(kinds(list), "P");
  EXPECT_EQ(list[0].payload, all);
}

TEST(Framer, TakesTheLongestPacketAndNoLonger) {
  Framer framer;
  framer.append(frame(std::string(kMaxPacket, 'a')));
  EXPECT_EQ(kinds(items(framer)), "P");
  framer.append(frame(std::string(kMaxPacket + 1, 'a')));
  EXPECT_EQ(kinds(items(framer)), "B");
  // One that never ends takes no memory, and what follows it is understood.
  for (int i = 0; i < 100; ++i) {
    framer.append((i == 0 ? "$" : "") + std::string(100'000, 'a'));
    EXPECT_EQ(kinds(items(framer)), "");
    EXPECT_LE(framer.kept(), kMaxPacket + 200'000);
  }
  framer.append("#00$OK#9a");
  EXPECT_EQ(kinds(items(framer)), "BP");
}

TEST(Escape, StopsInTime) {
  std::size_t used = 0;
  EXPECT_EQ(escape_up_to("ab#cd", 4, used), "ab}\x03");
  EXPECT_EQ(used, 3u);
  EXPECT_EQ(escape_up_to("ab#cd", 3, used), "ab");
  EXPECT_EQ(used, 2u);
  EXPECT_EQ(escape_up_to("*", 2, used), "}\x0a");
}

TEST(Hex, BothWays) {
  EXPECT_EQ(hex_number(0), "0");
  EXPECT_EQ(hex_number(~std::uint64_t{0}), "ffffffffffffffff");
  EXPECT_EQ(hex_text("\x01z"), "017a");
  EXPECT_EQ(text_from_hex("017A"), "\x01z");
  EXPECT_FALSE(text_from_hex("0"));
  EXPECT_FALSE(text_from_hex("0g"));
}

TEST(Cursor, ReadsOnlyWhatFits) {
  Cursor cursor("1f,x;rest");
  EXPECT_EQ(cursor.number(), 0x1fu);
  EXPECT_FALSE(cursor.take(';'));
  EXPECT_TRUE(cursor.take(','));
  EXPECT_FALSE(cursor.number());
  EXPECT_EQ(cursor.field(';'), "x");
  EXPECT_EQ(cursor.rest(), "rest");
  EXPECT_FALSE(Cursor("10000000000000000").number());
  EXPECT_FALSE(Cursor("-1").number());
  EXPECT_FALSE(Cursor("").number());
}

TEST(ThreadId, Forms) {
  const auto read = [](std::string_view text) {
    Cursor cursor(text);
    return read_thread(cursor);
  };
  EXPECT_EQ(read("p1f.a"), (ThreadSelector{0x1f, 0xa}));
  EXPECT_EQ(read("p1f.-1"), (ThreadSelector{0x1f, -1}));
  EXPECT_EQ(read("p1f"), (ThreadSelector{0x1f, -1}));
  EXPECT_EQ(read("-1"), (ThreadSelector{0, -1}));
  EXPECT_EQ(read("2"), (ThreadSelector{0, 2}));
  EXPECT_FALSE(read("px.1"));
  EXPECT_FALSE(read("p1."));
  EXPECT_FALSE(read("80000000"));
  EXPECT_FALSE(read(""));
  EXPECT_EQ(thread_text({{31}, {10}}, true), "p1f.a");
  EXPECT_EQ(thread_text({{31}, {10}}, false), "a");
  EXPECT_TRUE((ThreadSelector{31, -1}).matches({{31}, {9}}));
  EXPECT_FALSE((ThreadSelector{31, 8}).matches({{31}, {9}}));
}

TEST(Signals, BothWays) {
  EXPECT_EQ(gdb_signal({SIGSEGV}), 11);
  EXPECT_EQ(gdb_signal({SIGUSR1}), 30);
  EXPECT_EQ(gdb_signal({SIGCHLD}), 20);
  EXPECT_EQ(gdb_signal({34}), 46);
  EXPECT_EQ(gdb_signal({64}), 78);
  EXPECT_EQ(gdb_signal({SIGSTKFLT}), 143);
  for (int number = 1; number <= 64; ++number) {
    if (number == SIGSTKFLT) continue;
    EXPECT_EQ(linux_signal(gdb_signal({number})), Signal{number});
  }
  EXPECT_FALSE(linux_signal(143));
}

}  // namespace
}  // namespace detrec::gdbstub::packet
