// `detrec info`, `ls`, `dump` and `index`, run as a user runs them.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/unit/storage/sample_run.h"
#include "tests/unit/storage/trace_folder.h"

namespace detrec::frontend {
namespace {

using storage::testing::TraceFolder;

struct Outcome {
  int status = -1;
  std::string text;  ///< stdout and stderr
};

class TraceCommands : public ::testing::Test {
 protected:
  void SetUp() override {
    const event::RecordBuffer records = storage::testing::sample_run();
    storage::testing::write_trace(folder_.path("old-1.detrec"), records.bytes());
    storage::WriterOptions options;
    options.indexed_syscalls = 0;
    storage::testing::write_trace(folder_.path("new-1.detrec"), records.bytes(), options);
    std::filesystem::last_write_time(
        folder_.path("old-1.detrec"),
        std::filesystem::last_write_time(folder_.path("new-1.detrec")) - std::chrono::hours(1));
  }
  Outcome detrec(const std::string& arguments) {
    const std::string command =
        "cd '" + folder_.path("").string() + "' && " DETREC_PATH " " + arguments + " 2>&1";
    Outcome outcome;
    FILE* pipe = ::popen(command.c_str(), "r");
    std::array<char, 4096> buffer;
    while (const std::size_t size = std::fread(buffer.data(), 1, buffer.size(), pipe))
      outcome.text.append(buffer.data(), size);
    outcome.status = WEXITSTATUS(::pclose(pipe));
    return outcome;
  }
  std::size_t lines(const std::string& text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }

  TraceFolder folder_;
};

TEST_F(TraceCommands, AnOpenTraceIsToldFromOneThatWasCutOff) {
  const auto state = [&] { return detrec("info live-1.detrec | grep ^ended").text; };
  {
    auto writer =
        storage::TraceWriter::create(folder_.path("live-1.detrec"), storage::testing::sample_info());
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE(writer.value()->flush().ok());
    const event::RecordBuffer records = storage::testing::sample_run();
    storage::testing::add_all(*writer.value(), records.bytes());
    ASSERT_TRUE(writer.value()->flush().ok());
    EXPECT_NE(state().find("being recorded"), std::string::npos) << state();
    EXPECT_NE(detrec("ls | grep live-1").text.find(" open "), std::string::npos);
  }
  EXPECT_NE(state().find("cut off (the recorder was ended"), std::string::npos) << state();
  EXPECT_NE(detrec("ls | grep live-1").text.find(" cut off "), std::string::npos);
}

TEST_F(TraceCommands, AnIndexThatGrowsTooLargeEndsWithAMessage) {
  const auto limited = detrec("info >/dev/null; ulimit -f 1; " DETREC_PATH " index new-1.detrec");
  EXPECT_EQ(limited.status, 125);
  EXPECT_NE(limited.text.find("detrec: new-1.detrec"), std::string::npos) << limited.text;
}

TEST_F(TraceCommands, InfoOfTheNewestOrTheNamed) {
  const auto newest = detrec("info");
  EXPECT_EQ(newest.status, 0);
  EXPECT_NE(newest.text.find("new-1.detrec"), std::string::npos);
  EXPECT_NE(newest.text.find("sample \"an argument\""), std::string::npos);
  EXPECT_NE(newest.text.find("syscall is empty"), std::string::npos);
  const auto named = detrec("info old-1.detrec");
  EXPECT_NE(named.text.find("old-1.detrec"), std::string::npos);
  EXPECT_NE(named.text.find("all filled"), std::string::npos);
  EXPECT_NE(named.text.find("1 to 22"), std::string::npos);
}

TEST_F(TraceCommands, InfoAsJson) {
  const auto json = nlohmann::json::parse(detrec("info --json").text);
  EXPECT_EQ(json["path"], "new-1.detrec");
  EXPECT_EQ(json["complete"], true);
  EXPECT_EQ(json["command"][1], "an argument");
  EXPECT_EQ(json["last_event"], 22);
  EXPECT_EQ(json["recording"]["host"], "testhost");
  EXPECT_EQ(json["statistics"]["threads"], 3);
}

TEST_F(TraceCommands, LsListsTheNewestFirst) {
  std::ofstream(folder_.path("broken.detrec")) << "broken";
  std::ofstream(folder_.path("other.txt")) << "other";
  const auto list = detrec("ls");
  EXPECT_EQ(list.status, 0);
  EXPECT_EQ(lines(list.text), 4u) << list.text;
  EXPECT_LT(list.text.find("new-1"), list.text.find("old-1"));
  EXPECT_NE(list.text.find("broken.detrec: it is not a trace"), std::string::npos);
  const auto json = nlohmann::json::parse(detrec("ls --json").text);
  EXPECT_EQ(json.size(), 3u);
  for (const char* name : {"old-1.detrec", "new-1.detrec", "broken.detrec"})
    std::filesystem::remove(folder_.path(name));
  EXPECT_EQ(detrec("ls").text, "");
  EXPECT_EQ(nlohmann::json::parse(detrec("ls --json").text).size(), 0u);
}

TEST_F(TraceCommands, DumpInParts) {
  const auto all = detrec("dump");
  EXPECT_EQ(all.status, 0);
  EXPECT_EQ(lines(all.text), 22u);
  EXPECT_EQ(all.text.substr(0, 8), "1:0:0x0 ");
  const auto part = detrec("dump --from 10:300:0x401180 --limit 2");
  EXPECT_EQ(lines(part.text), 2u);
  EXPECT_NE(part.text.find("10:300:0x401180 1 signal SIGUSR1"), std::string::npos);
  EXPECT_EQ(detrec("dump --limit 0").text, "");
  EXPECT_EQ(lines(detrec("dump --from 0").text), 22u);
  const auto json = nlohmann::json::parse(detrec("dump --json --from 4 --limit 1").text);
  EXPECT_EQ(json["name"], "read");
  EXPECT_EQ(json["ranges"][0]["data"], "3132333435");
}

TEST_F(TraceCommands, IndexFillsTheTables) {
  const auto indexed = detrec("index");
  EXPECT_EQ(indexed.status, 0);
  EXPECT_EQ(indexed.text, "new-1.detrec: 9 system calls, 10 descriptors\n");
  EXPECT_NE(detrec("info").text.find("all filled"), std::string::npos);
}

TEST_F(TraceCommands, FailuresSayWhy) {
  for (const char* command : {"info", "dump", "index"}) {
    const auto outcome = detrec(std::string(command) + " nowhere.detrec");
    EXPECT_EQ(outcome.status, 125) << command;
    EXPECT_TRUE(outcome.text.starts_with("detrec: nowhere.detrec: ")) << outcome.text;
    EXPECT_EQ(lines(outcome.text), 1u);
    EXPECT_EQ(detrec(std::string(command) + " --no-such-option").status, 125);
    EXPECT_EQ(detrec(std::string(command) + " a b").status, 125);
  }
  EXPECT_EQ(detrec("dump --from 99").status, 125);
  EXPECT_EQ(detrec("dump --from x").status, 125);
  EXPECT_EQ(detrec("dump --limit x").status, 125);
  EXPECT_EQ(detrec("dump > /dev/full").status, 125);
}

TEST_F(TraceCommands, HelpHasExamples) {
  for (const char* command : {"info", "ls", "dump", "index"}) {
    const auto help = detrec(std::string(command) + " --help");
    EXPECT_EQ(help.status, 0);
    EXPECT_NE(help.text.find("Examples:"), std::string::npos) << command;
  }
}

}  // namespace
}  // namespace detrec::frontend
