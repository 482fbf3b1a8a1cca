#include "frontend/replay_server.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <string_view>

#include "frontend/complain.h"
#include "frontend/divergence_report.h"
#include "frontend/launch/launch_page.h"
#include "frontend/launch/supervisor.h"
#include "frontend/replay_input.h"
#include "gdbstub/net/server.h"
#include "server/session/replay_target.h"

namespace detrec::frontend {
namespace {

/// gdb does not expect a monitor command to go elsewhere. A pipe keeps it from saying that it has forgotten.
constexpr std::string_view kGdbScript =
    "define hookpost-monitor\n"
    "pipe maintenance flush dcache | cat > /dev/null\n"
    "pipe maintenance flush register-cache | cat > /dev/null\n"
    "end\n";

/// A file that gdb can read the script from.
std::string script_path() {
  const int file = memfd_create("detrec.gdb", 0);
  if (file < 0 || write(file, kGdbScript.data(), kGdbScript.size()) < 0) return "/dev/null";
  return fmt::format("/proc/self/fd/{}", file);
}

/// Executes gdb, connected to `port`; its pid.
pid_t start_gdb(std::uint16_t port) {
  const std::string target = fmt::format("target extended-remote 127.0.0.1:{}", port);
  const pid_t child = fork();
  if (child != 0) return child;
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGQUIT, SIG_DFL);
  const std::string script = script_path();
  execlp("gdb", "gdb", "-x", script.c_str(), "-ex", target.c_str(), nullptr);
  std::perror("detrec: gdb");
  _exit(127);
}

}  // namespace

int serve_debugger(const std::string& trace, storage::TraceReader& reader, const ReplayOptions& options) {
  const auto input = ReplayInput::open(reader);
  if (!input) return complain(input.error());
  auto page = LaunchPage::create_debugged(input.value().engine);
  if (!page) return complain(page.error());
  wire::Launch& launch = page.value().get();
  input.value().describe(launch, reader);

  Attachments attachments;
  attachments.content = input.value().content.descriptor();
  server::ReplayChannel channel;
  channel.descriptor = page.value().descriptor();
  channel.launch = &launch;
  channel.start_engine = [&]() -> event::Result<pid_t> {
    const auto pid = start_engine(input.value().engine, page.value(), attachments);
    if (!pid) return event::Error{event::ErrorCode::kIo, to_string(pid.error())};
    return pid.value();
  };
  auto timeline = server::Timeline::start(channel, reader, input.value().content);
  if (!timeline) return complain(timeline.error());

  std::signal(SIGPIPE, SIG_IGN);
  asio::io_context io;
  server::ReplayTarget::Reports reports;
  reports.describe_divergence = [&](const wire::Divergence& divergence, std::string_view message) {
    return format_divergence(divergence, message, reader);
  };
  reports.warn = [](const std::string& line) { std::fputs(("detrec: " + line + "\n").c_str(), stderr); };
  server::ReplayTarget target(io, reader, std::move(timeline.value()), std::move(reports));
  gdbstub::Server stub(io, target);
  pid_t gdb = 0;
  if (options.stdio || options.gdb) {
    // What is typed at the terminal is gdb's.
    std::signal(SIGINT, SIG_IGN);
    std::signal(SIGQUIT, SIG_IGN);
  }
  if (options.stdio) {
    const auto served = stub.serve(STDIN_FILENO, STDOUT_FILENO, [&] { stub.stop(); });
    if (!served) return complain({kExitOwnFailure, to_string(served.error()), {}});
  } else {
    gdbstub::Server::ListenOptions listen;
    listen.address = options.listen;
    listen.port = options.gdb ? 0 : options.port;
    if (options.gdb) listen.on_client_gone = [&] { stub.stop(); };
    listen.on_client_refused = [] {
      std::fputs("detrec: turned another debugger away: one at a time is served\n", stderr);
    };
    const auto port = stub.listen(listen);
    if (!port) return complain({kExitOwnFailure, to_string(port.error()), {}});
    if (options.gdb) {
      gdb = start_gdb(port.value());
    } else {
      std::fputs(fmt::format("detrec: replaying {}; now run\n  gdb -ex 'target extended-remote {}:{}'\n",
                             trace, options.listen == "0.0.0.0" ? "127.0.0.1" : options.listen, port.value())
                     .c_str(),
                 stderr);
    }
  }
  io.run();
  if (gdb > 0) waitpid(gdb, nullptr, 0);
  return 0;
}

}  // namespace detrec::frontend
