#include "gdbstub/session/open_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "gdbstub/documents/proc_files.h"

namespace detrec::gdbstub {

namespace {

Error bad_descriptor() { return {EBADF, "no such open file"}; }

}  // namespace

Result<OpenFiles::File> OpenFiles::open_file(ProcessId process, const std::string& path) {
  if (const auto proc = documents::parse_proc_path(path, process)) {
    if (const auto info = target_.process_info(proc->process)) {
      if (auto text = documents::proc_file(proc->file, info.value(), target_)) return File(std::move(*text));
      if (proc->file != "exe") return Error{ENOENT, "not served", path};
      return open_file(process, info.value().executable);
    }
  }
  const auto handle = target_.files().open(process, path);
  if (!handle) return handle.error();
  return File(handle.value());
}

Result<std::int32_t> OpenFiles::open(ProcessId process, const std::string& path) {
  if (files_.size() >= kMaxFiles) return Error{EMFILE, "too many open files", path};
  auto file = open_file(process, path);
  if (!file) return file.error();
  std::int32_t fd = 0;
  while (files_.contains(fd)) ++fd;
  files_.emplace(fd, std::move(file.value()));
  return fd;
}

Result<std::vector<std::uint8_t>> OpenFiles::pread(std::int32_t fd, std::uint64_t offset, std::size_t count) {
  const auto found = files_.find(fd);
  if (found == files_.end()) return bad_descriptor();
  if (const auto* handle = std::get_if<FileHandle>(&found->second)) {
    return target_.files().pread(*handle, offset, count);
  }
  const auto& text = std::get<std::string>(found->second);
  const auto begin = std::min<std::uint64_t>(offset, text.size());
  const auto end = begin + std::min<std::uint64_t>(count, text.size() - begin);
  return std::vector<std::uint8_t>(text.begin() + static_cast<std::ptrdiff_t>(begin),
                                   text.begin() + static_cast<std::ptrdiff_t>(end));
}

Result<FileStat> OpenFiles::fstat(std::int32_t fd) {
  const auto found = files_.find(fd);
  if (found == files_.end()) return bad_descriptor();
  if (const auto* handle = std::get_if<FileHandle>(&found->second)) return target_.files().fstat(*handle);
  FileStat stat;
  stat.mode = S_IFREG | 0444;  // of size 0, as the kernel's own /proc files are: it is read to its end
  return stat;
}

Status OpenFiles::close(std::int32_t fd) {
  const auto found = files_.find(fd);
  if (found == files_.end()) return bad_descriptor();
  const auto file = std::move(found->second);
  files_.erase(found);
  if (const auto* handle = std::get_if<FileHandle>(&file)) return target_.files().close(*handle);
  return Done{};
}

void OpenFiles::close_all() {
  while (!files_.empty()) {
    // There is nobody to tell that it failed.
    [[maybe_unused]] const auto status = close(files_.begin()->first);
  }
}

Result<std::string> OpenFiles::readlink(ProcessId process, const std::string& path) {
  if (const auto proc = documents::parse_proc_path(path, process)) {
    if (const auto info = target_.process_info(proc->process)) {
      if (auto link = documents::proc_link(proc->file, info.value())) return std::move(*link);
      return Error{EINVAL, "not a link", path};
    }
  }
  return target_.files().readlink(process, path);
}

}  // namespace detrec::gdbstub
