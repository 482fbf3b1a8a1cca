// The vocabulary in which table.cc and the command tables are written. Internal to this folder.
//
// Everything is constexpr, so that a table is finished data in the read-only section.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "trace/syscalls/table.h"

namespace detrec::syscalls::build {

// Values.
inline constexpr Arg kInt{ArgKind::kInt};
inline constexpr Arg kUnsigned{ArgKind::kUnsigned};
inline constexpr Arg kLong{ArgKind::kLong};
inline constexpr Arg kWord{ArgKind::kWord};
inline constexpr Arg kFlags{ArgKind::kFlags};
inline constexpr Arg kMode{ArgKind::kMode};
inline constexpr Arg kFd{ArgKind::kFd};
inline constexpr Arg kDirFd{ArgKind::kDirFd};
inline constexpr Arg kPid{ArgKind::kPid};
inline constexpr Arg kUserId{ArgKind::kUserId};
inline constexpr Arg kSignal{ArgKind::kSignal};
inline constexpr Arg kCommand{ArgKind::kCommand};
inline constexpr Arg kSize{ArgKind::kSize};
inline constexpr Arg kSize32{ArgKind::kSize32};
inline constexpr Arg kCount{ArgKind::kCount};
inline constexpr Arg kOffset{ArgKind::kOffset};
inline constexpr Arg kAddress{ArgKind::kAddress};
inline constexpr Arg kByCommand{ArgKind::kByCommand};

// Memory the kernel only reads.
inline constexpr Arg kPath{ArgKind::kPath, Length::kString};
inline constexpr Arg kString{ArgKind::kString, Length::kString};
inline constexpr Arg kStringArray{ArgKind::kStringArray, Length::kStringArray};
inline constexpr Arg kMsghdrIn{ArgKind::kMsghdrIn, Length::kMsghdr};

constexpr Arg memory(ArgKind kind, Length length, std::size_t size, std::uint8_t ref = kNoArg,
                     When when = When::kSuccess, std::size_t header = 0) {
  return {kind, length, ref, when, static_cast<std::uint16_t>(size), static_cast<std::uint16_t>(header)};
}

/// `size` bytes that the kernel reads.
constexpr Arg in(std::size_t size) { return memory(ArgKind::kIn, Length::kFixed, size); }
/// Argument `ref` elements of `size` bytes that the kernel reads.
constexpr Arg in_by(std::uint8_t ref, std::size_t size = 1) {
  return memory(ArgKind::kIn, Length::kArg, size, ref);
}
/// Memory that the kernel reads, of a length by another rule.
constexpr Arg in_as(Length length, std::uint8_t ref = kNoArg) { return memory(ArgKind::kIn, length, 0, ref); }
/// `size` bytes that the kernel writes.
constexpr Arg out(std::size_t size, When when = When::kSuccess) {
  return memory(ArgKind::kOut, Length::kFixed, size, kNoArg, when);
}
/// Argument `ref` elements of `size` bytes that the kernel writes, whatever the result.
constexpr Arg out_by(std::uint8_t ref, std::size_t size = 1) {
  return memory(ArgKind::kOut, Length::kArg, size, ref);
}
/// As many elements as the result says, at most argument `ref`, behind `header` bytes.
constexpr Arg out_up_to(std::uint8_t ref, std::size_t size = 1, std::size_t header = 0) {
  return memory(ArgKind::kOut, Length::kMinArgResult, size, ref, When::kSuccess, header);
}
/// Memory that the kernel writes, of a length by another rule.
constexpr Arg out_as(Length length, std::uint8_t ref = kNoArg, When when = When::kSuccess) {
  return memory(ArgKind::kOut, length, 0, ref, when);
}
/// `size` bytes that the kernel reads, and writes.
constexpr Arg inout(std::size_t size, When when = When::kSuccess) {
  return memory(ArgKind::kInOut, Length::kFixed, size, kNoArg, when);
}
constexpr Arg inout_as(Length length, std::uint8_t ref = kNoArg, When when = When::kSuccess) {
  return memory(ArgKind::kInOut, length, 0, ref, when);
}
/// A signal set of as many bytes as argument `ref` says (always 8, or the kernel refuses).
constexpr Arg sigset_in(std::uint8_t ref) { return memory(ArgKind::kSigsetIn, Length::kArg, 1, ref); }
constexpr Arg sigset_out(std::uint8_t ref) { return memory(ArgKind::kSigsetOut, Length::kArg, 1, ref); }
/// A value-result length (socklen_t *).
constexpr Arg length_inout(When when = When::kSuccess) {
  return memory(ArgKind::kLengthInOut, Length::kFixed, 4, kNoArg, when);
}
/// An iovec array of argument `count` entries.
constexpr Arg iovec_in(std::uint8_t count) { return memory(ArgKind::kIovecIn, Length::kIovec, 16, count); }
constexpr Arg iovec_out(std::uint8_t count) { return memory(ArgKind::kIovecOut, Length::kIovec, 16, count); }

constexpr std::uint8_t bit(std::uint8_t argument) { return static_cast<std::uint8_t>(1u << argument); }

/// A row under construction: each function returns a copy with one more property.
struct Row : SyscallRow {
  constexpr Row with(Flag flag) const {
    Row row = *this;
    row.flags = static_cast<std::uint8_t>(row.flags | flag);
    return row;
  }
  constexpr Row blocks() const { return with(kBlocks); }
  constexpr Row slow() const { return with(kSlow); }
  constexpr Row no_return() const { return with(kNoReturn); }
  constexpr Row writes_file(std::uint8_t argument) const {
    Row row = with(kWritesFile);
    row.file_arg = argument;
    return row;
  }
  constexpr Row closes_fds(std::uint8_t mask) const {
    Row row = with(kDropsFds);
    row.closes = mask;
    return row;
  }
  constexpr Row restarts(Restart rule) const {
    Row row = *this;
    row.restart = rule;
    return row;
  }
  constexpr Row creates_fd(Creates where = Creates::kResult, std::uint8_t argument = kNoArg) const {
    Row row = *this;
    row.creates = where;
    row.creates_arg = argument;
    return row;
  }
  constexpr Row by(Commands table, std::uint8_t argument) const {
    Row row = *this;
    row.commands = table;
    row.command_arg = argument;
    return row;
  }
  constexpr Row or_error(int number_of_error) const {
    Row row = *this;
    row.error = static_cast<std::int16_t>(number_of_error);
    return row;
  }
  constexpr Row path(std::uint8_t argument, std::uint8_t directory = kNoArg, Follow follow = Follow::kAlways,
                     std::uint8_t flags_argument = kNoArg) const {
    Row row = *this;
    row.paths[row.paths[0].arg == kNoArg ? 0 : 1] = {argument, directory, flags_argument, follow};
    return row;
  }
};

template <std::size_t N>
constexpr Row make(Class klass, Subject subject, int nr, const char (&name)[N],
                   std::initializer_list<Arg> args) {
  static_assert(N <= sizeof(SyscallRow::name));
  Row row;
  row.number = static_cast<std::int16_t>(nr);
  row.klass = klass;
  row.subject = subject;
  row.arg_count = static_cast<std::uint8_t>(args.size());
  for (std::size_t i = 0; i < N; ++i) row.name[i] = name[i];
  std::uint8_t next = 0;
  for (const Arg& arg : args) {
    const bool by_command = arg.kind == ArgKind::kByCommand;
    if (by_command || arg.is_read()) row.reads = static_cast<std::uint8_t>(row.reads | bit(next));
    if (by_command || arg.is_written()) row.writes = static_cast<std::uint8_t>(row.writes | bit(next));
    row.args[next++] = arg;
  }
  return row;
}

template <std::size_t N>
constexpr Row answered(int nr, const char (&name)[N], std::initializer_list<Arg> args = {}) {
  return make(Class::kAnswered, Subject::kNone, nr, name, args);
}
template <std::size_t N>
constexpr Row direct(int nr, const char (&name)[N], std::initializer_list<Arg> args = {}) {
  return make(Class::kDirect, Subject::kNone, nr, name, args);
}
template <std::size_t N>
constexpr Row may_block(int nr, const char (&name)[N], std::initializer_list<Arg> args = {}) {
  return make(Class::kMayBlock, Subject::kNone, nr, name, args);
}
template <std::size_t N>
constexpr Row special(Subject subject, int nr, const char (&name)[N], std::initializer_list<Arg> args = {}) {
  return make(Class::kSpecial, subject, nr, name, args);
}
template <std::size_t N>
constexpr Row refused(int error, int nr, const char (&name)[N], std::initializer_list<Arg> args = {}) {
  return make(Class::kRefused, Subject::kNone, nr, name, args).or_error(error);
}

}  // namespace detrec::syscalls::build
