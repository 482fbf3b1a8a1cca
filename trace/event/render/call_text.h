// A system call's name, arguments and result in words. Internal to rendering.
#pragma once

#include <string>
#include <string_view>

#include "trace/event/event_view.h"

namespace detrec::event::render {

/// "read", or "syscall_1000".
std::string call_name(std::int32_t number);

/// "3, 0x7fff0000, 64".
std::string call_arguments(const SyscallView& call);

/// "64", "0x7f0000000000", "-1 ENOENT", "? ERESTARTSYS".
std::string call_result(const wire::SyscallBody& body);

/// "ENOENT"; empty when the call did not fail.
std::string_view call_error(const wire::SyscallBody& body);

}  // namespace detrec::event::render
