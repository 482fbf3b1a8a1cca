#include "frontend/launch/program_path.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>

namespace detrec::frontend {
namespace {

/// 0, or the errno that execve(2) would give for what can be seen from outside the file.
int execution_error(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) return errno;
  if (S_ISDIR(info.st_mode)) return EISDIR;
  if (!S_ISREG(info.st_mode)) return EACCES;
  return faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) == 0 ? 0 : errno;
}

Error path_error(const std::string& path, int error) {
  return Error{error == ENOENT ? kExitNotFound : kExitCannotExecute, std::strerror(error), path};
}

}  // namespace

std::string search_path_from_environment() {
  const char* path = std::getenv("PATH");
  return path != nullptr ? path : "/bin:/usr/bin";
}

Result<std::string> resolve_program(const std::string& name, std::string_view search_path) {
  if (name.find('/') != std::string::npos) {
    const int error = execution_error(name);
    if (error != 0) return path_error(name, error);
    return name;
  }

  std::optional<Error> first_refusal;
  for (std::size_t begin = 0; !name.empty() && begin <= search_path.size();) {
    const std::size_t end = std::min(search_path.find(':', begin), search_path.size());
    const std::string_view directory = search_path.substr(begin, end - begin);
    begin = end + 1;

    const std::string candidate = std::string(directory.empty() ? "." : directory) + "/" + name;
    const int error = execution_error(candidate);
    if (error == 0) return candidate;
    const bool absent = error == ENOENT || error == ENOTDIR || error == EISDIR;
    if (!absent && !first_refusal) first_refusal = path_error(candidate, error);
  }
  if (first_refusal) return *first_refusal;
  return Error{kExitNotFound, "command not found", name.empty() ? "''" : name};
}

}  // namespace detrec::frontend
