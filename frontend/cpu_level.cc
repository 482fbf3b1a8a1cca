#include "frontend/cpu_level.h"

namespace detrec::frontend {

std::uint32_t cpu_level_of(std::string_view model) {
  if (model == "x86-64-v2") return 2;
  if (model == "x86-64-v3") return 3;
  return model == "x86-64-v4" ? 4 : 0;
}

bool host_has(std::string_view model) {
  __builtin_cpu_init();
  switch (cpu_level_of(model)) {
    case 2:
      return __builtin_cpu_supports("x86-64-v2") != 0;
    case 3:
      return __builtin_cpu_supports("x86-64-v3") != 0;
    case 4:
      return __builtin_cpu_supports("x86-64-v4") != 0;
    default:
      return true;
  }
}

}  // namespace detrec::frontend
