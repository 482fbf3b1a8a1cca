// What a command answers.
#pragma once

#include <optional>
#include <string>

#include "gdbstub/result.h"

namespace detrec::gdbstub {

/// `payload` is sent, escaped already; nothing: the answer comes later (a stop reply) or never (k, R).
struct Reply {
  std::optional<std::string> payload;

  static Reply text(std::string payload) { return {std::move(payload)}; }
  static Reply ok() { return {"OK"}; }
  /// The packet is not supported, or not in this form.
  static Reply empty() { return {""}; }
  static Reply later() { return {std::nullopt}; }
  /// Enn: for packets whose error no user reads.
  static Reply error_code(int code);
  /// E.message: gdb shows the message for many packets.
  static Reply error(const Error& error);
  static Reply of(const Status& status) { return status ? ok() : error(status.error()); }
};

}  // namespace detrec::gdbstub
