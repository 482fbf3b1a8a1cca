#include <cstdio>
#include <string>
#include <vector>

#include "frontend/command_line.h"
#include "frontend/complain.h"

namespace {

using detrec::frontend::Invocation;
using detrec::frontend::PrintText;

int perform(const PrintText& request) {
  std::fputs(request.text.c_str(), stdout);
  return std::fflush(stdout) == 0 ? 0 : detrec::frontend::kExitOwnFailure;
}

template <typename Options>
int perform(const Options& options) {
  return detrec::frontend::execute(options);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  const auto invocation = detrec::frontend::parse_command_line(words);
  if (!invocation) return detrec::frontend::complain(invocation.error());
  return std::visit([](const auto& request) { return perform(request); }, invocation.value());
}
