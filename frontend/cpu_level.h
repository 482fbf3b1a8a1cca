// The processor models of `--cpu`, by their names in traces.
#pragma once

#include <cstdint>
#include <string_view>

namespace detrec::frontend {

/// 2, 3 or 4 for "x86-64-v2" ..., 0 for everything else: the host's processor.
std::uint32_t cpu_level_of(std::string_view model);

/// True when this machine's processor has what the model has.
bool host_has(std::string_view model);

}  // namespace detrec::frontend
