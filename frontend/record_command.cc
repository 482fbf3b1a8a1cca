#include "frontend/record_command.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <memory>

#include "frontend/complain.h"
#include "frontend/cpu_level.h"
#include "frontend/launch/engine_image.h"
#include "frontend/launch/launch_page.h"
#include "frontend/launch/program_path.h"
#include "frontend/launch/supervisor.h"
#include "frontend/report.h"
#include "frontend/report_trace.h"
#include "frontend/trace_files.h"
#include "server/record/recorder.h"
#include "server/record/turn_server.h"

namespace detrec::frontend {
namespace {

storage::RecordingInfo describe_recording(const RecordOptions& options) {
  storage::RecordingInfo info;
  info.command = options.guest_command;
  std::error_code error;
  info.directory = std::filesystem::current_path(error).string();
  utsname host = {};
  uname(&host);
  info.host = host.nodename;
  info.kernel = fmt::format("{} {}", host.release, host.version);
  info.cpu_model = options.cpu;
  info.detrec_version = DETREC_VERSION;
  info.started = server::wall_time_now();
  return info;
}

/// Both ends of the control socket; the child's has a high number.
struct Control {
  Descriptor server, engine;
};

Result<Control> make_control() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return Error{kExitOwnFailure, std::strerror(errno), "socketpair"};
  Control control{move_to_high_number(Descriptor(ends[0])), move_to_high_number(Descriptor(ends[1]))};
  if (!control.server.valid() || !control.engine.valid())
    return Error{kExitOwnFailure, std::strerror(errno), "the control socket's descriptor"};
  return control;
}

/// Threads that are created meanwhile leave every signal to the main thread, which passes them on to the
/// program; what their own writes raise (SIGXFSZ, SIGPIPE) is an error there.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() {
    sigset_t own;
    sigemptyset(&own);
    sigaddset(&own, SIGXFSZ);
    const timespec at_once = {};
    while (sigtimedwait(&own, nullptr, &at_once) > 0) continue;  // the write has failed, which is enough
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

event::Result<std::unique_ptr<storage::TraceWriter>> create_trace(const std::string& path,
                                                                  const storage::RecordingInfo& info,
                                                                  const storage::WriterOptions& options) {
  const SignalsBlocked blocked;
  return storage::TraceWriter::create(path, info, options);
}

void print_summary(const std::string& trace, const server::RecordingResult& result) {
  std::error_code error;
  const auto size = std::filesystem::file_size(trace, error);
  std::fputs(fmt::format("detrec: {}: {} events, {}; to replay: detrec replay {}\n", trace, result.events,
                         format_bytes(error ? 0 : size), trace)
                 .c_str(),
             stderr);
}

}  // namespace

RecordCommand::RecordCommand(CLI::App& parent) {
  CLI::App* record = parent.add_subcommand("record", "Record a program's run into a trace");
  record
      ->add_option("-o,--output", trace_,
                   "The trace to write; default: <program>-<n>.detrec in this directory")
      ->check([](const std::string& name) { return name.empty() ? "the trace needs a name" : std::string(); })
      ->type_name("FILE");
  record
      ->add_option(
          "--cpu", cpu_,
          "The processor the program sees: host, or x86-64-v2, -v3, -v4 for traces that replay on others")
      ->type_name("MODEL")
      ->check(CLI::IsMember({"host", "x86-64-v2", "x86-64-v3", "x86-64-v4"}));
  record->add_flag("-q,--quiet", quiet_, "Do not print the line about the trace at the end");
  record->add_option("--slice", slice_, "Let another thread run every N ticks, up to M instructions later")
      ->type_name("N[+M]");
  record->add_flag("--no-translation-cache", no_translation_cache_,
                   "Keep no translated code, neither for later runs nor for other processes");
  // For the help text only: the guest's command is cut off before CLI11 sees it.
  record->add_option("PROGRAM", "Looked up in PATH unless it contains a slash")->type_name("");
  record->add_option("ARGUMENT", "Given to the program as they are")->type_name("...");
  record->footer(
      "Examples:\n"
      "  detrec record ./prog --its-option\n"
      "  detrec record -o crash.detrec -- ./prog\n"
      "  detrec replay -a crash.detrec");
}

Result<RecordOptions> RecordCommand::finish(std::vector<std::string> guest_command) {
  RecordOptions options;
  options.trace = trace_;
  options.quiet = quiet_;
  options.cpu = cpu_;
  options.no_translation_cache = no_translation_cache_;
  if (!slice_.empty()) {
    const auto slice = parse_slice(slice_);
    if (!slice) return Error{slice.error().code, slice.error().message, "--slice"};
    options.slice = slice.value();
  }
  if (guest_command.empty()) return Error{kExitOwnFailure, "no program given (try --help)", "record"};
  options.guest_command = std::move(guest_command);
  return options;
}

int execute(const RecordOptions& options) {
  const auto program = resolve_program(options.guest_command.front(), search_path_from_environment());
  if (!program) return complain(program.error());
  const auto engine = EngineImage::open();
  if (!engine) return complain(engine.error());
  RunOptions run;
  run.slice = options.slice;
  run.no_translation_cache = options.no_translation_cache;
  auto page = LaunchPage::create(run, engine.value(), wire::ChannelMode::kRecord);
  if (!page) return complain(page.error());
  if (!host_has(options.cpu))
    return complain(Error{kExitOwnFailure, "this machine's processor does not have " + options.cpu, "--cpu"});
  page.value().get().cpu_level = cpu_level_of(options.cpu);
  auto control = make_control();
  if (!control) return complain(control.error());
  auto ring = server::Ring::map(page.value().descriptor(), page.value().get());
  if (!ring) return complain(ring.error());
  auto turns = server::TurnServer::map(page.value().descriptor(), page.value().get());
  if (!turns) return complain(turns.error());

  const std::string trace =
      options.trace.empty() ? new_trace_path(options.guest_command.front()).string() : options.trace;
  storage::WriterOptions writer_options;
  writer_options.replace_existing = !options.trace.empty();
  auto writer = create_trace(trace, describe_recording(options), writer_options);
  if (!writer) return complain(writer.error());

  server::Recorder recorder(std::move(ring.value()), control.value().server.release(),
                            std::move(writer.value()));
  Attachments attachments;
  attachments.control = control.value().engine.number();
  attachments.on_started = [&](pid_t child) {
    control.value().engine = {};
    recorder.start(child);
    turns.value().start(child);
  };
  const auto wait_status =
      run_engine(engine.value(), page.value(), program.value(), options.guest_command, attachments);
  if (!wait_status) return complain(wait_status.error());
  const auto damage = turns.value().finish();
  page.value().keep_translations();

  const Outcome outcome = judge(page.value().get(), wait_status.value(), run);
  storage::RecordingSummary summary;
  summary.exit_status = outcome.exit_status;
  summary.ticks = page.value().get().ticks;
  summary.end_reason = WIFSIGNALED(wait_status.value()) ? "signal" : "exit";
  const server::RecordingResult result = recorder.finish(
      wait_status.value(), summary, server::last_ticks(page.value().descriptor(), page.value().get()));
  std::fputs(outcome.text.c_str(), stderr);
  if (result.error) {
    std::error_code ignored;
    const bool is_there = std::filesystem::exists(trace, ignored);
    return complain(Error{kExitOwnFailure,
                          to_string(*result.error) + "; the program was ended, " +
                              (is_there ? "the trace is good up to the last flush" : "there is no trace"),
                          trace});
  }
  if (damage) return complain(Error{kExitOwnFailure, *damage, trace});
  if (result.events == 0) {  // the program was not started
    std::error_code ignored;
    std::filesystem::remove(trace, ignored);
    return outcome.exit_status;
  }
  if (page.value().get().phase == wire::LaunchPhase::kFailed) return outcome.exit_status;
  if (!options.quiet) print_summary(trace, result);
  return outcome.exit_status;
}

}  // namespace detrec::frontend
