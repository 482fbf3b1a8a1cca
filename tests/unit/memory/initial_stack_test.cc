#include "trace/guest/load/initial_stack.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace detrec::guest::load {
namespace {

constexpr GuestAddr kTop = 0x7fff'0000'0000;
constexpr u64 kBytes = 1 << 16;

/// The stack's memory as the test sees it.
struct Memory {
  std::vector<u8> bytes = std::vector<u8>(kBytes, 0xee);

  static bool write(void* self, GuestAddr to, const void* from, u64 n) {
    if (to < kTop - kBytes || to + n > kTop) return false;
    std::memcpy(static_cast<Memory*>(self)->at(to), from, n);
    return true;
  }
  u8* at(GuestAddr a) { return bytes.data() + (a - (kTop - kBytes)); }
  u64 word(GuestAddr a) {
    u64 w;
    std::memcpy(&w, at(a), sizeof w);
    return w;
  }
  std::string text(GuestAddr a) { return reinterpret_cast<char*>(at(a)); }
};

struct Built {
  Memory memory;
  StackLayout layout;
};

Built build(std::vector<const char*> prefix, std::vector<const char*> argv, std::vector<const char*> envp,
            int auxv_pairs) {
  argv.push_back(nullptr);
  envp.push_back(nullptr);
  StackInput in{};
  in.prefix = prefix.data();
  in.prefix_count = static_cast<u32>(prefix.size());
  in.argv = argv.data();
  in.envp = envp.data();
  in.execfn = "./prog";
  in.platform = "x86_64";
  for (int i = 0; i < 16; ++i) in.random[i] = static_cast<u8>(i + 1);
  in.top = kTop;
  AuxVector auxv;
  for (int i = 0; i < auxv_pairs - 1; ++i) auxv.add(100 + static_cast<u64>(i), 7);
  auxv.add(0, 0);
  Built b;
  b.layout = plan_stack(in, auxv.count);
  EXPECT_TRUE(write_stack(in, b.layout, auxv, Memory::write, &b.memory));
  return b;
}

TEST(InitialStack, IsAsTheAbiHasIt) {
  Built b = build({}, {"prog", "one", ""}, {"A=1", "BB=22"}, 5);
  GuestAddr sp = b.layout.sp;
  EXPECT_EQ(sp % 16, 0u);
  EXPECT_EQ(b.memory.word(sp), 3u);
  EXPECT_EQ(b.memory.text(b.memory.word(sp + 8)), "prog");
  EXPECT_EQ(b.memory.text(b.memory.word(sp + 16)), "one");
  EXPECT_EQ(b.memory.text(b.memory.word(sp + 24)), "");
  EXPECT_EQ(b.memory.word(sp + 32), 0u);
  EXPECT_EQ(b.memory.text(b.memory.word(sp + 40)), "A=1");
  EXPECT_EQ(b.memory.text(b.memory.word(sp + 48)), "BB=22");
  EXPECT_EQ(b.memory.word(sp + 56), 0u);
  EXPECT_EQ(b.memory.word(sp + 64), 100u);
  EXPECT_EQ(b.memory.word(sp + 64 + 4 * 16), 0u);
  EXPECT_EQ(b.memory.text(b.layout.execfn), "./prog");
  EXPECT_EQ(b.layout.execfn + sizeof "./prog", kTop - 8);
  EXPECT_EQ(b.memory.text(b.layout.platform), "x86_64");
  EXPECT_EQ(b.memory.at(b.layout.random)[15], 16);
}

TEST(InitialStack, StringsAreContiguousInOrder) {
  Built b = build({}, {"prog", "one"}, {"A=1", "BB=22"}, 1);
  std::string args(reinterpret_cast<char*>(b.memory.at(b.layout.arg_begin)),
                   b.layout.arg_end - b.layout.arg_begin);
  EXPECT_EQ(args, std::string("prog\0one\0", 9));
  std::string env(reinterpret_cast<char*>(b.memory.at(b.layout.env_begin)),
                  b.layout.env_end - b.layout.env_begin);
  EXPECT_EQ(env, std::string("A=1\0BB=22\0", 10));
  EXPECT_EQ(b.layout.arg_end, b.layout.env_begin);
  EXPECT_EQ(b.layout.env_end, b.layout.execfn);
}

TEST(InitialStack, ScriptsPutTheirInterpreterFirst) {
  Built b = build({"/bin/sh", "-e", "./script"}, {"x"}, {}, 1);
  GuestAddr sp = b.layout.sp;
  EXPECT_EQ(b.memory.word(sp), 4u);
  EXPECT_EQ(b.memory.text(b.memory.word(sp + 8)), "/bin/sh");
  EXPECT_EQ(b.memory.text(b.memory.word(sp + 16)), "-e");
  EXPECT_EQ(b.memory.text(b.memory.word(sp + 24)), "./script");
  EXPECT_EQ(b.memory.text(b.memory.word(sp + 32)), "x");
  EXPECT_EQ(b.memory.word(sp + 40), 0u);
}

TEST(InitialStack, NothingOverlapsWhateverTheLengths) {
  for (int args = 0; args < 20; ++args) {
    for (int pairs = 1; pairs < 20; ++pairs) {
      std::vector<std::string> texts;
      for (int i = 0; i <= args; ++i) texts.push_back(std::string(static_cast<std::size_t>(i * 3 % 7), 'a'));
      std::vector<const char*> argv;
      for (const std::string& t : texts) argv.push_back(t.c_str());
      Built b = build({}, argv, {"E=1"}, pairs);
      GuestAddr end = b.layout.sp + 8 * (1 + argv.size() + 1 + 1 + 1) + 16 * static_cast<u64>(pairs);
      EXPECT_LE(end, b.layout.random);
      EXPECT_LE(b.layout.random + 16, b.layout.platform);
      EXPECT_LE(b.layout.platform + 7, b.layout.arg_begin);
      EXPECT_EQ(b.layout.sp % 16, 0u);
    }
  }
}

TEST(InitialStack, AFailingWriteIsReported) {
  StackInput in{};
  const char* none[] = {nullptr};
  in.prefix = none;
  in.argv = none;
  in.envp = none;
  in.execfn = "x";
  in.top = kTop;
  AuxVector auxv;
  auxv.add(0, 0);
  auto refuse = [](void*, GuestAddr, const void*, u64) { return false; };
  EXPECT_FALSE(write_stack(in, plan_stack(in, auxv.count), auxv, refuse, nullptr));
}

}  // namespace
}  // namespace detrec::guest::load
