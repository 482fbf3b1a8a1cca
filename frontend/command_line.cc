#include "frontend/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <span>

namespace detrec::frontend {
namespace {

using Words = std::span<const std::string>;

bool looks_like_option(const std::string& word) { return word.size() > 1 && word[0] == '-'; }

/// How many of `words` are options of `app` and their values. CLI11 could be asked to stop at the first
/// stranger, but it would still take a guest program that has the name of a subcommand, or a guest's "--",
/// for its own.
std::size_t count_option_words(CLI::App& app, Words words) {
  std::size_t count = 0;
  while (count < words.size() && looks_like_option(words[count]) && words[count] != "--") {
    const CLI::Option* option = app.get_option_no_throw(words[count]);
    count += option != nullptr && option->get_items_expected_max() > 0 ? 2 : 1;
  }
  return std::min(count, words.size());
}

/// Runs CLI11 over `words`; an error becomes a Result, a request for help or version becomes text.
Result<PrintText> parse_options(CLI::App& app, Words words) {
  std::vector<std::string> reversed(words.rbegin(), words.rend());
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::CallForHelp&) {
    return PrintText{app.help()};
  } catch (const CLI::CallForVersion& version) {
    return PrintText{std::string(version.what()) + "\n"};
  } catch (const CLI::ParseError& error) {
    return Error{kExitOwnFailure, std::string(error.what()) + " (try --help)", {}};
  }
  return PrintText{};
}

/// A subcommand that takes a guest's command line.
template <typename Command>
Result<Invocation> parse_guest_command(CLI::App& app, Command& command, Words words) {
  const std::size_t options = count_option_words(*app.get_subcommand(words.front()), words.subspan(1)) + 1;
  const auto parsed = parse_options(app, words.first(options));
  if (!parsed) return parsed.error();
  if (!parsed.value().text.empty()) return Invocation{parsed.value()};

  Words guest = words.subspan(options);
  if (!guest.empty() && guest.front() == "--") guest = guest.subspan(1);
  auto run = command.finish({guest.begin(), guest.end()});
  if (!run) return run.error();
  return Invocation{std::move(run.value())};
}

/// A subcommand whose words are all detrec's.
template <typename Command>
Result<Invocation> parse_own_command(CLI::App& app, Command& command, Words words) {
  const auto parsed = parse_options(app, words);
  if (!parsed) return parsed.error();
  if (!parsed.value().text.empty()) return Invocation{parsed.value()};
  auto options = command.finish();
  if (!options) return options.error();
  return Invocation{std::move(options.value())};
}

}  // namespace

Result<Invocation> parse_command_line(const std::vector<std::string>& words) {
  CLI::App app("Runs unmodified Linux x86-64 programs under exact control.", "detrec");
  app.set_version_flag("--version", "detrec " DETREC_VERSION, "Print the version and exit");
  app.require_subcommand(1);
  app.footer(
      "Exit status: the program's (128+n when signal n ended it); 125 detrec's own failure, 126 a program "
      "that\n"
      "cannot be run, 127 one that does not exist.");
  RecordCommand record(app);
  ReplayCommand replay(app);
  RunCommand run(app);
  LsCommand ls(app);
  InfoCommand info(app);
  DumpCommand dump(app);
  IndexCommand index(app);

  if (!words.empty() && !looks_like_option(words.front())) {
    if (words.front() == "run") return parse_guest_command(app, run, words);
    if (words.front() == "record") return parse_guest_command(app, record, words);
    if (words.front() == "replay") return parse_own_command(app, replay, words);
    if (words.front() == "ls") return parse_own_command(app, ls, words);
    if (words.front() == "info") return parse_own_command(app, info, words);
    if (words.front() == "dump") return parse_own_command(app, dump, words);
    if (words.front() == "index") return parse_own_command(app, index, words);
    return Error{kExitOwnFailure, "no such subcommand (try --help)", words.front()};
  }

  const auto parsed = parse_options(app, words);
  if (!parsed) return parsed.error();
  return Invocation{parsed.value()};
}

}  // namespace detrec::frontend
