#include "server/session/captured_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

namespace detrec::server {
namespace {

constexpr std::uint64_t kLargestFile = std::uint64_t{4} << 30;

}  // namespace

CapturedFiles::CapturedFiles(storage::TraceReader& reader) : reader_(reader) {
  const auto captures = reader.captures();
  if (!captures) return;  // then there are none to find
  for (const storage::Capture& capture : captures.value())
    by_path_.insert_or_assign(capture.info.path, capture);
}

/// The trace knows files by what their names led to. A debugger may come by a symbolic link of the recorded
/// machine (/lib64/ld-linux-x86-64.so.2, libstdc++.so.6): then the name's last part decides, which a version
/// may follow, and of several the one that has most in common.
const storage::Capture* CapturedFiles::find(const std::string& path) const {
  const std::filesystem::path normal = std::filesystem::path(path).lexically_normal();
  if (const auto exact = by_path_.find(normal.string()); exact != by_path_.end()) return &exact->second;
  const std::string name = normal.filename().string();
  if (name.empty()) return nullptr;
  const std::string folder = normal.parent_path().string();
  const storage::Capture* best = nullptr;
  std::size_t most = 0;
  for (const auto& [captured, capture] : by_path_) {
    const std::filesystem::path other(captured);
    const std::string other_name = other.filename().string(), other_folder = other.parent_path().string();
    const bool same = other_name == name;
    if (!same && !(other_name.starts_with(name + ".") && name.find(".so") != std::string::npos)) continue;
    const auto ends =
        std::mismatch(other_folder.rbegin(), other_folder.rend(), folder.rbegin(), folder.rend());
    const auto common = static_cast<std::size_t>(ends.first - other_folder.rbegin()) * 2 + (same ? 2 : 1);
    if (common > most) most = common, best = &capture;
  }
  return best;
}

gdbstub::Result<gdbstub::FileHandle> CapturedFiles::open(gdbstub::ProcessId, const std::string& path) {
  const storage::Capture* found = find(path);
  if (found == nullptr) return gdbstub::Error{ENOENT, "the trace has no such file", path};
  const storage::Capture& capture = *found;
  auto content = loaded_[capture.file].lock();
  if (!content) {
    auto read = reader_.read_capture(capture, kLargestFile);
    if (!read) return gdbstub::Error{EIO, to_string(read.error()), path};
    content = std::make_shared<const std::vector<std::byte>>(std::move(read.value()));
    loaded_[capture.file] = content;
  }
  const gdbstub::FileHandle handle{next_++};
  open_[handle.value] = {capture, std::move(content)};
  return handle;
}

gdbstub::Result<std::vector<std::uint8_t>> CapturedFiles::pread(gdbstub::FileHandle file,
                                                                std::uint64_t offset, std::size_t count) {
  const auto found = open_.find(file.value);
  if (found == open_.end()) return gdbstub::Error{EBADF, "not open"};
  const auto& content = *found->second.content;
  if (offset >= content.size()) return std::vector<std::uint8_t>{};
  const std::size_t size = std::min<std::size_t>(count, content.size() - offset);
  const auto* begin = reinterpret_cast<const std::uint8_t*>(content.data()) + offset;
  return std::vector<std::uint8_t>(begin, begin + size);
}

gdbstub::Result<gdbstub::FileStat> CapturedFiles::fstat(gdbstub::FileHandle file) {
  const auto found = open_.find(file.value);
  if (found == open_.end()) return gdbstub::Error{EBADF, "not open"};
  constexpr std::uint64_t kNanosPerSecond = 1'000'000'000;
  gdbstub::FileStat stat;
  stat.device = found->second.capture.info.device;
  stat.inode = found->second.capture.info.inode;
  stat.mode = S_IFREG | 0555;
  stat.size = found->second.content->size();
  stat.mtime = static_cast<std::int64_t>(found->second.capture.info.mtime_ns / kNanosPerSecond);
  return stat;
}

gdbstub::Status CapturedFiles::close(gdbstub::FileHandle file) {
  if (open_.erase(file.value) == 0) return gdbstub::Error{EBADF, "not open"};
  return gdbstub::Done{};
}

gdbstub::Result<std::string> CapturedFiles::readlink(gdbstub::ProcessId, const std::string& path) {
  if (find(path) != nullptr) return gdbstub::Error{EINVAL, "not a symbolic link", path};
  return gdbstub::Error{ENOENT, "the trace has no such file", path};
}

}  // namespace detrec::server
