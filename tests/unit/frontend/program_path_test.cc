#include "frontend/launch/program_path.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace detrec::frontend {
namespace {

namespace fs = std::filesystem;

/// A scratch tree: one/tool (not executable), one/folder/, two/tool and two/folder (executable).
class ProgramPath : public testing::Test {
 protected:
  ProgramPath() {
    char name[] = "/tmp/program_path.XXXXXX";
    root_ = mkdtemp(name);
    fs::create_directories(root_ / "one" / "folder");
    fs::create_directories(root_ / "two");
    make_file("one/tool", 0644);
    make_file("two/tool", 0755);
    make_file("two/folder", 0755);
  }
  ~ProgramPath() override { fs::remove_all(root_); }

  void make_file(const std::string& name, mode_t mode) {
    std::ofstream(root_ / name) << "#!/bin/sh\n";
    chmod((root_ / name).c_str(), mode);
  }
  std::string path(const std::string& name) const { return (root_ / name).string(); }

  fs::path root_;
};

int code_of(const Result<std::string>& result) { return result.ok() ? 0 : result.error().code; }

TEST_F(ProgramPath, ANameWithASlashIsThePathItself) {
  EXPECT_EQ(resolve_program(path("two/tool"), "").value(), path("two/tool"));
  EXPECT_EQ(code_of(resolve_program(path("two/none"), path("two"))), kExitNotFound);
  EXPECT_EQ(code_of(resolve_program(path("one/tool"), "")), kExitCannotExecute);
  EXPECT_EQ(code_of(resolve_program(path("one"), "")), kExitCannotExecute);
  EXPECT_EQ(code_of(resolve_program(path("two/tool/"), "")), kExitCannotExecute);
  EXPECT_EQ(code_of(resolve_program("/dev/null", "")), kExitCannotExecute);
}

TEST_F(ProgramPath, TheFirstExecutableFileInPathWins) {
  const std::string search = path("none") + ":" + path("one") + ":" + path("two");
  EXPECT_EQ(resolve_program("tool", search).value(), path("two/tool"));
  EXPECT_EQ(resolve_program("folder", search).value(), path("two/folder"));
}

TEST_F(ProgramPath, WithoutAnExecutableOneTheReasonIsGiven) {
  EXPECT_EQ(code_of(resolve_program("tool", path("one"))), kExitCannotExecute);
  EXPECT_EQ(code_of(resolve_program("folder", path("one"))), kExitNotFound);
  EXPECT_EQ(code_of(resolve_program("none", path("one") + ":" + path("two"))), kExitNotFound);
  EXPECT_EQ(code_of(resolve_program("", path("two"))), kExitNotFound);
}

TEST_F(ProgramPath, EmptyElementsAreTheCurrentDirectory) {
  const fs::path before = fs::current_path();
  fs::current_path(root_ / "two");
  for (const std::string& search :
       {std::string(""), std::string(":/none"), std::string("/none:"), std::string("/none::/n")}) {
    const auto found = resolve_program("tool", search);
    EXPECT_TRUE(found.ok() && found.value() == "./tool") << "'" << search << "'";
  }
  fs::current_path(before);
}

}  // namespace
}  // namespace detrec::frontend
