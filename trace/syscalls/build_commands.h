// The vocabulary in which the command tables are written, and the accessors of the tables. Internal to this
// folder.
#pragma once

#include <asm/errno.h>

#include "trace/syscalls/build_rows.h"
#include "trace/syscalls/commands.h"

namespace detrec::syscalls::build {

/// A command row under construction.
struct Command : CommandRow {
  constexpr Command with(CommandFlag flag) const {
    Command row = *this;
    row.flags = static_cast<std::uint8_t>(row.flags | flag);
    return row;
  }
  constexpr Command any_size() const { return with(kAnySize); }
  constexpr Command creates_fd(Creates where = Creates::kResult, std::uint8_t argument = kNoArg) const {
    Command row = *this;
    row.creates = where;
    row.creates_arg = argument;
    return row;
  }
  constexpr Command or_error(int number_of_error) const {
    Command row = *this;
    row.error = static_cast<std::int16_t>(number_of_error);
    return row;
  }
};

template <std::size_t N>
constexpr Command command(Class klass, Subject subject, std::uint64_t key, const char (&name)[N],
                          std::initializer_list<Arg> args) {
  static_assert(N <= sizeof(CommandRow::name));
  Command row;
  row.key = key;
  row.klass = klass;
  row.subject = subject;
  for (std::size_t i = 0; i < N; ++i) row.name[i] = name[i];
  std::size_t next = 0;
  for (const Arg& arg : args) row.args[next++] = arg;
  return row;
}

/// A command that is passed on and does not wait.
template <std::size_t N>
constexpr Command pass(std::uint64_t key, const char (&name)[N], std::initializer_list<Arg> args = {}) {
  return command(Class::kDirect, Subject::kNone, key, name, args);
}
/// A command that may wait for another guest thread or for the outside.
template <std::size_t N>
constexpr Command wait(std::uint64_t key, const char (&name)[N], std::initializer_list<Arg> args = {}) {
  return command(Class::kMayBlock, Subject::kNone, key, name, args);
}
/// A command that the engine or the core answers.
template <std::size_t N>
constexpr Command answer(std::uint64_t key, const char (&name)[N], std::initializer_list<Arg> args = {}) {
  return command(Class::kAnswered, Subject::kNone, key, name, args);
}
/// A command that the engine keeps books about.
template <std::size_t N>
constexpr Command handle(Subject subject, std::uint64_t key, const char (&name)[N],
                         std::initializer_list<Arg> args = {}) {
  return command(Class::kSpecial, subject, key, name, args);
}
/// A known command that is never executed.
template <std::size_t N>
constexpr Command refuse(int error, std::uint64_t key, const char (&name)[N],
                         std::initializer_list<Arg> args = {}) {
  return command(Class::kRefused, Subject::kNone, key, name, args).or_error(error);
}

/// A table's rows in ascending order of keys. (An aggregate: GCC puts constants with constructors into
/// writable data.)
template <std::size_t N>
struct Sorted {
  CommandRow rows[N];

  constexpr bool has_duplicates() const {
    for (std::size_t i = 1; i < N; ++i) {
      if (rows[i - 1].key == rows[i].key) return true;
    }
    return false;
  }
  constexpr CommandTable table() const { return {rows, N}; }
};

template <std::size_t N>
constexpr Sorted<N> sorted(const CommandRow (&unsorted)[N]) {
  Sorted<N> result{};
  for (std::size_t i = 0; i < N; ++i) {
    std::size_t place = i;
    for (; place > 0 && result.rows[place - 1].key > unsorted[i].key; --place) {
      result.rows[place] = result.rows[place - 1];
    }
    result.rows[place] = unsorted[i];
  }
  return result;
}

}  // namespace detrec::syscalls::build

namespace detrec::syscalls {

// ioctl_rows.cc
CommandTable ioctl_commands();
CommandTable ioctl_families();
// socket_rows.cc
CommandTable setsockopt_commands();
CommandTable getsockopt_commands();
// process_rows.cc
CommandTable fcntl_commands();
CommandTable prctl_commands();
CommandTable arch_prctl_commands();
CommandTable futex_commands();
CommandTable madvise_commands();
CommandTable ptrace_commands();
CommandTable bpf_commands();
// ipc_rows.cc
CommandTable shmctl_commands();
CommandTable semctl_commands();
CommandTable msgctl_commands();
CommandTable quotactl_commands();
CommandTable keyctl_commands();

}  // namespace detrec::syscalls
