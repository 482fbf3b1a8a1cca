// toy_stub [OPTIONS] PROGRAM [ARGUMENT...]: records main() of a non-PIE program and serves it to gdb.
//
//   --stdio           to the client at standard input and output; ends with it
//   --once            ends when the first client has gone (else: serves until it is killed)
//   --pause-us N      rests between slices of a continue
//   --slice N         instructions a slice
//   --vectors LEVEL   sse, avx or avx512
//
// Over TCP the port is printed as "port N" on a line of its own.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "gdbstub/net/server.h"
#include "tests/gdb/toy/toy_target.h"

namespace {

namespace gdbstub = detrec::gdbstub;

struct Arguments {
  gdbstub::toy::ToyOptions toy;
  bool stdio = false;
  bool once = false;
  std::vector<std::string> program;
};

bool parse(int argc, char** argv, Arguments& out) {
  int i = 1;
  const auto number = [&] { return i + 1 < argc ? std::strtoul(argv[++i], nullptr, 10) : 0; };
  for (; i < argc && std::strncmp(argv[i], "--", 2) == 0; ++i) {
    const std::string name = argv[i];
    if (name == "--stdio") {
      out.stdio = true;
    } else if (name == "--once") {
      out.once = true;
    } else if (name == "--pause-us") {
      out.toy.pause = std::chrono::microseconds(number());
    } else if (name == "--slice") {
      out.toy.slice = number();
    } else if (name == "--vectors" && i + 1 < argc) {
      const std::string level = argv[++i];
      out.toy.vectors = level == "sse"   ? gdbstub::VectorLevel::kSse
                        : level == "avx" ? gdbstub::VectorLevel::kAvx
                                         : gdbstub::VectorLevel::kAvx512;
    } else {
      return false;
    }
  }
  out.program.assign(argv + i, argv + argc);
  return !out.program.empty();
}

int fail(const gdbstub::Error& error) {
  std::fprintf(stderr, "toy_stub: %s\n", gdbstub::to_string(error).c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (!parse(argc, argv, arguments)) {
    std::fprintf(stderr,
                 "usage: toy_stub [--stdio] [--once] [--pause-us N] [--slice N] [--vectors L] PROGRAM...\n");
    return 2;
  }
  std::signal(SIGPIPE, SIG_IGN);
  auto recording = gdbstub::toy::record(arguments.program);
  if (!recording) return fail(recording.error());

  asio::io_context io;
  gdbstub::toy::ToyTarget target(io, std::move(recording.value()), arguments.toy);
  gdbstub::Server server(io, target);
  if (arguments.stdio) {
    const auto status = server.serve(STDIN_FILENO, STDOUT_FILENO, [&io] { io.stop(); });
    if (!status) return fail(status.error());
  } else {
    gdbstub::Server::ListenOptions options;
    options.port = 0;
    if (arguments.once) options.on_client_gone = [&io] { io.stop(); };
    const auto port = server.listen(std::move(options));
    if (!port) return fail(port.error());
    std::printf("port %u\n", static_cast<unsigned>(port.value()));
    std::fflush(stdout);
  }
  io.run();
  return 0;
}
