#include "gdbstub/documents/proc_files.h"

#include <fmt/format.h>

#include <charconv>

#include "gdbstub/packet/hex.h"

namespace detrec::gdbstub::documents {

namespace {

std::optional<std::int32_t> parse_id(std::string_view text) {
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value <= 0) return std::nullopt;
  return value;
}

std::string joined(const std::vector<std::string>& strings) {
  std::string text;
  for (const auto& string : strings) text.append(string).push_back('\0');
  return text;
}

std::string maps_line(const Mapping& mapping) {
  auto line = fmt::format("{:08x}-{:08x} {}{}{}{} {:08x} {:02x}:{:02x} {} ", mapping.range.start.value,
                          mapping.range.end.value, mapping.readable ? 'r' : '-', mapping.writable ? 'w' : '-',
                          mapping.executable ? 'x' : '-', mapping.shared ? 's' : 'p', mapping.offset,
                          mapping.device_major, mapping.device_minor, mapping.inode);
  if (!mapping.path.empty()) {
    if (line.size() < 73) line.resize(73, ' ');
    line += mapping.path;
  }
  return line + '\n';
}

std::string maps(const ProcessInfo& process) {
  std::string text;
  for (const auto& mapping : process.mappings) text += maps_line(mapping);
  return text;
}

/// gdb's core writer looks at sizes, Anonymous and VmFlags to choose what to dump: everything private counts
/// as changed, so that all of it is dumped.
std::string smaps(const ProcessInfo& process) {
  std::string text;
  for (const auto& mapping : process.mappings) {
    const auto kib = (mapping.range.end.value - mapping.range.start.value) / 1024;
    text += maps_line(mapping);
    text += fmt::format(
        "Size: {0:18} kB\nRss: {0:19} kB\nShared_Clean: {1:10} kB\nShared_Dirty: {1:10} kB\n"
        "Private_Clean: {1:9} kB\nPrivate_Dirty: {2:9} kB\nReferenced: {0:12} kB\nAnonymous: {2:13} kB\n"
        "Swap: {1:18} kB\n",
        kib, 0, mapping.shared ? 0 : kib);
    text += fmt::format("VmFlags:{}{}{}{} mr mw me\n", mapping.readable ? " rd" : "",
                        mapping.writable ? " wr" : "", mapping.executable ? " ex" : "",
                        mapping.shared ? " sh" : "");
  }
  return text;
}

std::size_t thread_count(const ProcessInfo& process, Target& target) {
  std::size_t count = 0;
  for (const auto& thread : target.threads()) count += thread.id.process == process.id ? 1 : 0;
  return count;
}

/// 52 fields; those that a recording does not know are 0. State t: stopped by a tracer.
std::string stat(const ProcessInfo& process, Target& target) {
  auto text = fmt::format("{} ({}) t {} {} {}", process.id.value, process.name, process.parent.value,
                          process.id.value, process.id.value);
  for (int field = 7; field <= 52; ++field) {
    text += field == 20 ? fmt::format(" {}", thread_count(process, target)) : std::string(" 0");
  }
  return text + '\n';
}

std::string status(const ProcessInfo& process, Target& target) {
  return fmt::format(
      "Name:\t{0}\nState:\tt (tracing stop)\nTgid:\t{1}\nPid:\t{1}\nPPid:\t{2}\nTracerPid:\t0\n"
      "Uid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\nThreads:\t{3}\n",
      process.name, process.id.value, process.parent.value, thread_count(process, target));
}

}  // namespace

std::optional<ProcPath> parse_proc_path(std::string_view path, ProcessId current) {
  constexpr std::string_view kPrefix = "/proc/";
  if (!path.starts_with(kPrefix)) return std::nullopt;
  path.remove_prefix(kPrefix.size());
  const auto take_part = [&path] {
    const auto part = path.substr(0, path.find('/'));
    path.remove_prefix(part.size() == path.size() ? path.size() : part.size() + 1);
    return part;
  };
  const auto owner = take_part();
  ProcPath result;
  if (owner == "self" || owner == "thread-self") {
    result.process = current;
  } else if (const auto id = parse_id(owner)) {
    result.process = {*id};
  } else {
    return std::nullopt;
  }
  if (path.starts_with("task/")) {
    take_part();
    if (!parse_id(take_part())) return std::nullopt;
  }
  result.file = path;
  return result;
}

std::optional<std::string> proc_file(const std::string& file, const ProcessInfo& process, Target& target) {
  if (file == "maps") return maps(process);
  if (file == "smaps") return smaps(process);
  if (file == "cmdline") return joined(process.arguments);
  if (file == "environ") return joined(process.environment);
  if (file == "comm") return process.name + '\n';
  if (file == "stat") return stat(process, target);
  if (file == "status") return status(process, target);
  if (file == "coredump_filter") return "00000033\n";  // the kernel's default
  if (file == "auxv") {
    const auto bytes = target.auxv(process.id);
    if (bytes) return std::string(packet::as_text(bytes.value()));
  }
  return std::nullopt;
}

std::optional<std::string> proc_link(const std::string& file, const ProcessInfo& process) {
  if (file == "exe" && !process.executable.empty()) return process.executable;
  if (file == "cwd" && !process.working_directory.empty()) return process.working_directory;
  if (file == "root") return "/";
  return std::nullopt;
}

}  // namespace detrec::gdbstub::documents
