#include "frontend/command_line.h"

#include <gtest/gtest.h>

namespace detrec::frontend {
namespace {

using Words = std::vector<std::string>;

RunOptions parsed_run(const Words& words) {
  const auto invocation = parse_command_line(words);
  if (!invocation.ok()) {
    ADD_FAILURE() << to_string(invocation.error());
    return {};
  }
  const auto* run = std::get_if<RunOptions>(&invocation.value());
  if (run == nullptr) ADD_FAILURE() << "not a run";
  return run != nullptr ? *run : RunOptions{};
}

void expect_usage_error(const Words& words, const std::string& part) {
  const auto invocation = parse_command_line(words);
  ASSERT_FALSE(invocation.ok());
  EXPECT_EQ(invocation.error().code, kExitOwnFailure);
  const std::string line = to_string(invocation.error());
  EXPECT_NE(line.find(part), std::string::npos) << line;
  EXPECT_EQ(line.find('\n'), std::string::npos) << line;
}

TEST(CommandLine, TheProgramsOwnWordsAreLeftAlone) {
  const RunOptions run = parsed_run({"run", "--engine-only", "ls", "--ticks", "-l", "--", "--help", ""});
  EXPECT_EQ(run.guest_command, (Words{"ls", "--ticks", "-l", "--", "--help", ""}));
  EXPECT_TRUE(run.engine_only);
  EXPECT_FALSE(run.print_ticks);
}

TEST(CommandLine, WhatCannotBeMeantIsRefused) {
  expect_usage_error({"replay", "-a", "-g"}, "-a, -g and --stdio");
  expect_usage_error({"replay", "-a", "--stdio"}, "-a, -g and --stdio");
  expect_usage_error({"replay", "-g", "--stdio", "x.detrec"}, "-a, -g and --stdio");
  expect_usage_error({"record", "-o", "", "true"}, "the trace needs a name");
}

TEST(CommandLine, DashesEndTheOptions) {
  EXPECT_EQ(parsed_run({"run", "--", "--strange", "--"}).guest_command, (Words{"--strange", "--"}));
  EXPECT_EQ(parsed_run({"run", "--ticks", "--", "--ticks"}).guest_command, (Words{"--ticks"}));
}

TEST(CommandLine, AProgramMayHaveTheNameOfASubcommandOrBeADash) {
  EXPECT_EQ(parsed_run({"run", "run", "run"}).guest_command, (Words{"run", "run"}));
  EXPECT_EQ(parsed_run({"run", "-", "x"}).guest_command, (Words{"-", "x"}));
}

TEST(CommandLine, OptionsTakeTheirValuesWithAndWithoutEqualsSign) {
  const RunOptions run = parsed_run({"run", "--stop-at", "2k:0x401000", "--slice=100+7", "--stats",
                                     "--translate-limit", "5", "--trace-level=3", "prog", "--slice", "1"});
  ASSERT_TRUE(run.stop_at.has_value());
  EXPECT_EQ(run.stop_at->ticks, Ticks{2000});
  EXPECT_EQ(run.stop_at->pc, GuestAddress{0x401000});
  ASSERT_TRUE(run.slice.has_value());
  EXPECT_EQ(run.slice->ticks, Ticks{100});
  EXPECT_EQ(run.slice->jitter_instructions, 7U);
  EXPECT_TRUE(run.print_stats);
  EXPECT_EQ(run.translate_limit, 5U);
  EXPECT_EQ(run.trace_level, 3U);
  EXPECT_EQ(run.guest_command, (Words{"prog", "--slice", "1"}));
}

TEST(CommandLine, ErrorsAreOneLineAndNameTheirCause) {
  expect_usage_error({}, "subcommand");
  expect_usage_error({"fly"}, "fly");
  expect_usage_error({"--fly", "run", "ls"}, "--fly");
  expect_usage_error({"run"}, "no program");
  expect_usage_error({"run", "--"}, "no program");
  expect_usage_error({"run", "--tiks", "ls"}, "--tiks");
  expect_usage_error({"run", "--stop-at"}, "--stop-at");
  expect_usage_error({"run", "--stop-at", "x", "ls"}, "--stop-at: 'x'");
  expect_usage_error({"run", "--slice", "0", "ls"}, "--slice: '0'");
  expect_usage_error({"run", "--trace-level", "4", "ls"}, "--trace-level");
  expect_usage_error({"run", "--translate-limit", "1k", "ls"}, "--translate-limit");
}

TEST(CommandLine, HelpAndVersionAreTextAndHiddenOptionsStayHidden) {
  const auto help = parse_command_line({"run", "--help"});
  ASSERT_TRUE(help.ok());
  const std::string text = std::get<PrintText>(help.value()).text;
  EXPECT_NE(text.find("--stop-at"), std::string::npos);
  EXPECT_EQ(text.find("--trace-level"), std::string::npos);
  const auto version = parse_command_line({"--version"});
  ASSERT_TRUE(version.ok());
  EXPECT_TRUE(std::get<PrintText>(version.value()).text.starts_with("detrec "));
}

}  // namespace
}  // namespace detrec::frontend
