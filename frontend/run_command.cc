#include "frontend/run_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "frontend/complain.h"
#include "frontend/launch/engine_image.h"
#include "frontend/launch/launch_page.h"
#include "frontend/launch/program_path.h"
#include "frontend/launch/supervisor.h"
#include "frontend/report.h"

namespace detrec::frontend {
namespace {

constexpr std::uint64_t kMaxTraceLevel = 3;

Error in_option(const char* option, const Error& error) { return Error{error.code, error.message, option}; }

}  // namespace

RunCommand::RunCommand(CLI::App& parent) {
  CLI::App* run = parent.add_subcommand("run", "Run a program under the engine");
  run->add_flag("--engine-only", engine_only_,
                "Translate and count only: results of system calls are the host's");
  run->add_flag("--ticks", print_ticks_, "Print the ticks used, on stderr");
  run->add_option("--stop-at", stop_at_,
                  "End the program when its first thread has used TICKS, then reaches PC")
      ->type_name("TICKS[:PC]");
  run->add_option("--slice", slice_, "Leave the code cache every N ticks and up to M instructions later")
      ->type_name("N[+M]");
  run->add_flag("--stats", print_stats_, "Print the engine's counters, on stderr");
  run->add_flag("--no-translation-cache", no_translation_cache_,
                "Keep no translated code, neither for later runs nor for other processes");
  run->add_option("--translate-limit", translate_limit_)->group("");
  run->add_option("--trace-level", trace_level_)->group("");
  // For the help text only: the guest's command is cut off before CLI11 sees it.
  run->add_option("PROGRAM", "Looked up in PATH unless it contains a slash")->type_name("");
  run->add_option("ARGUMENT", "Given to the program as they are")->type_name("...");
  run->footer(
      "Ticks are decimal (with k, M or G for thousands, millions, thousand millions) or 0x hexadecimal.");
}

Result<RunOptions> RunCommand::finish(std::vector<std::string> guest_command) {
  RunOptions options;
  options.engine_only = engine_only_;
  options.print_ticks = print_ticks_;
  options.print_stats = print_stats_;
  options.no_translation_cache = no_translation_cache_;
  if (!stop_at_.empty()) {
    const auto stop_at = parse_stop_point(stop_at_);
    if (!stop_at) return in_option("--stop-at", stop_at.error());
    options.stop_at = stop_at.value();
  }
  if (!slice_.empty()) {
    const auto slice = parse_slice(slice_);
    if (!slice) return in_option("--slice", slice.error());
    options.slice = slice.value();
  }
  if (!translate_limit_.empty()) {
    const auto limit = parse_number(translate_limit_);
    if (!limit) return in_option("--translate-limit", limit.error());
    options.translate_limit = limit.value();
  }
  if (!trace_level_.empty()) {
    const auto level = parse_number(trace_level_);
    if (!level) return in_option("--trace-level", level.error());
    if (level.value() > kMaxTraceLevel)
      return Error{kExitOwnFailure, "the highest level is 3", "--trace-level"};
    options.trace_level = static_cast<std::uint32_t>(level.value());
  }
  if (guest_command.empty()) return Error{kExitOwnFailure, "no program given (try --help)", "run"};
  options.guest_command = std::move(guest_command);
  return options;
}

int execute(const RunOptions& options) {
  if (!options.engine_only) {
    return complain(
        {kExitOwnFailure, "deterministic run mode does not exist yet; only --engine-only does", "run"});
  }
  const auto program = resolve_program(options.guest_command.front(), search_path_from_environment());
  if (!program) return complain(program.error());

  const auto engine = EngineImage::open();
  if (!engine) return complain(engine.error());
  auto page = LaunchPage::create(options, engine.value());
  if (!page) return complain(page.error());

  const auto wait_status = run_engine(engine.value(), page.value(), program.value(), options.guest_command);
  if (!wait_status) return complain(wait_status.error());

  page.value().keep_translations();
  const Outcome outcome = judge(page.value().get(), wait_status.value(), options);
  std::fputs(outcome.text.c_str(), stderr);
  return outcome.exit_status;
}

}  // namespace detrec::frontend
