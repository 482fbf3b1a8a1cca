#include "trace/guest/load/script.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace detrec::guest::load {
namespace {

struct Parsed {
  ScriptKind kind;
  std::string interpreter, argument;
  bool has_argument;
};

Parsed parse(const std::string& file) {
  ScriptLine line{};
  std::string head = file.substr(0, kScriptHead);
  ScriptKind kind = parse_script(reinterpret_cast<const u8*>(head.data()), head.size(), line);
  if (kind != ScriptKind::kScript) return {kind, "", "", false};
  return {kind, line.interpreter, line.argument, line.has_argument};
}

TEST(Script, InterpreterAndOneArgument) {
  EXPECT_EQ(parse("#!/bin/sh\necho").interpreter, "/bin/sh");
  EXPECT_FALSE(parse("#!/bin/sh\necho").has_argument);
  Parsed p = parse("#! \t /usr/bin/env  python3 -u \t\nx");
  EXPECT_EQ(p.interpreter, "/usr/bin/env");
  EXPECT_TRUE(p.has_argument);
  EXPECT_EQ(p.argument, "python3 -u");
}

TEST(Script, NoNewlineAtTheEnd) { EXPECT_EQ(parse("#!/bin/sh").interpreter, "/bin/sh"); }

TEST(Script, NotAScript) {
  EXPECT_EQ(parse("").kind, ScriptKind::kNone);
  EXPECT_EQ(parse("#").kind, ScriptKind::kNone);
  EXPECT_EQ(parse("echo hi\n").kind, ScriptKind::kNone);
  EXPECT_EQ(parse("\x7f"
                  "ELF")
                .kind,
            ScriptKind::kNone);
}

TEST(Script, NoInterpreterNamed) {
  EXPECT_EQ(parse("#!\n/bin/sh\n").kind, ScriptKind::kBroken);
  EXPECT_EQ(parse("#!   \t\n").kind, ScriptKind::kBroken);
  EXPECT_EQ(parse("#!" + std::string(300, ' ')).kind, ScriptKind::kBroken);
}

TEST(Script, ATruncatedNameIsRefusedATruncatedArgumentCut) {
  EXPECT_EQ(parse("#!/" + std::string(300, 'a') + "\n").kind, ScriptKind::kBroken);
  Parsed p = parse("#!/bin/x " + std::string(400, 'b') + "\n");
  EXPECT_EQ(p.kind, ScriptKind::kScript);
  EXPECT_EQ(p.argument, std::string(kScriptHead - 1 - 9, 'b'));
  std::string exact = "#!/" + std::string(kScriptHead - 4, 'c') + "\n";
  EXPECT_EQ(parse(exact).interpreter.size(), kScriptHead - 3);
}

TEST(Script, RandomBytesNeverOverrun) {
  std::mt19937 random(1);
  const char alphabet[] = {'#', '!', ' ', '\t', '\n', '/', 'a', '\0', '\xff'};
  for (int i = 0; i < 200'000; ++i) {
    std::string s = "#!";
    std::size_t n = random() % 300;
    while (s.size() < n) s += alphabet[random() % sizeof alphabet];
    Parsed p = parse(s);
    EXPECT_LT(p.interpreter.size(), kScriptHead);
    EXPECT_LT(p.argument.size(), kScriptHead);
    EXPECT_TRUE(p.kind != ScriptKind::kScript || !p.interpreter.empty());
  }
}

}  // namespace
}  // namespace detrec::guest::load
