#include <cstdio>
#include <string>
#include <vector>

#include "tests/reseal/reseal.h"

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() < 3) {
    std::fputs(detrec::reseal::usage().c_str(), stderr);
    return 2;
  }
  const auto change = detrec::reseal::parse_change(std::span(words).subspan(2));
  const auto done = change ? detrec::reseal::reseal(words[0], words[1], change.value()) : change.error();
  if (done) return 0;
  std::fprintf(stderr, "%s\n", to_string(done.error()).c_str());
  return 1;
}
