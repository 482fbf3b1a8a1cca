#include "frontend/launch/translation_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "frontend/launch/descriptor.h"

namespace detrec::frontend {
namespace {

using wire::kTranslationChains;
using wire::kTranslationStoreBytes;
using wire::kTranslationUnit;
using wire::TranslationRecord;
using wire::TranslationStore;

constexpr std::uint64_t kRecords = sizeof(TranslationStore);
/// Less than this is not worth a write at the end of a run.
constexpr std::uint64_t kWorthKeeping = 16 * 1024;

/// While files are made: the user's limit on their size is an error, not a signal, and their mode is what is
/// asked for, whatever his umask, which may refuse everything to himself.
class OwnFiles {
 public:
  OwnFiles() : on_limit_(std::signal(SIGXFSZ, SIG_IGN)), mask_(umask(0077)) {}
  ~OwnFiles() {
    umask(mask_);
    std::signal(SIGXFSZ, on_limit_);
  }
  OwnFiles(const OwnFiles&) = delete;
  OwnFiles& operator=(const OwnFiles&) = delete;

 private:
  void (*on_limit_)(int);
  mode_t mask_;
};

/// Owned by us, and nobody else may write to it.
bool is_private(const struct stat& status) {
  return status.st_uid == geteuid() && (status.st_mode & 022) == 0;
}

bool is_private_directory(const std::string& directory) {
  struct stat status = {};
  return stat(directory.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && is_private(status);
}

bool make_private_directory(const std::string& directory) {
  // Of the directories above only the last is made: ~/.cache may not be there yet.
  const auto slash = directory.rfind('/');
  if (slash != std::string::npos && slash != 0) mkdir(directory.substr(0, slash).c_str(), 0700);
  mkdir(directory.c_str(), 0700);
  return is_private_directory(directory);
}

/// FNV-1a: engines at different places have files of their own, so that they do not replace each other's.
std::string file_name(const std::string& engine_path) {
  std::error_code error;
  const auto path = std::filesystem::canonical(engine_path, error).string();
  std::uint64_t hash = 0xcbf2'9ce4'8422'2325;
  for (const char c : path) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100'0000'01b3;
  return fmt::format("translations-{:016x}", hash);
}

/// Leaves the newest files and removes the others.
void remove_oldest(const std::string& directory) {
  constexpr std::size_t kMostFiles = 4;
  namespace fs = std::filesystem;
  std::error_code error;
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    if (entry.path().filename().string().starts_with("translations-"))
      files.emplace_back(entry.last_write_time(error), entry.path());
  }
  std::sort(files.begin(), files.end(), std::greater<>());
  for (std::size_t i = kMostFiles; i < files.size(); ++i) fs::remove(files[i].second, error);
}

bool read_at(int file, void* data, std::size_t bytes, std::uint64_t at) {
  return pread(file, data, bytes, static_cast<off_t>(at)) == static_cast<ssize_t>(bytes);
}

bool write_at(int file, const void* data, std::size_t bytes, std::uint64_t at) {
  return pwrite(file, data, bytes, static_cast<off_t>(at)) == static_cast<ssize_t>(bytes);
}

/// A store in a file. It is never mapped: a file may be cut off, and where it is may have no room for the
/// pages of its holes, which would be SIGBUS here.
class StoreReader {
 public:
  StoreReader(int file, std::uint64_t offset)
      : file_(file), offset_(offset), valid_(read_at(file, store_.get(), sizeof *store_, offset)) {}

  bool valid() const { return valid_; }
  const TranslationStore& store() const { return *store_; }

  /// The record at `unit`; empty when there is no whole one.
  std::vector<std::uint64_t> record(std::uint32_t unit) const {
    constexpr std::size_t kUsual = 1024;  // few are longer
    const std::uint64_t at = unit * kTranslationUnit;
    if (at < kRecords || at + sizeof(TranslationRecord) > kTranslationStoreBytes) return {};
    std::vector<std::uint64_t> words(kUsual / sizeof(std::uint64_t));
    const auto usual = std::min<std::uint64_t>(kUsual, kTranslationStoreBytes - at);
    if (!read_at(file_, words.data(), usual, offset_ + at)) return {};
    const std::uint32_t bytes = reinterpret_cast<const TranslationRecord*>(words.data())->bytes;
    if (!wire::can_be_record(at, bytes, sizeof(TranslationRecord))) return {};
    words.resize(bytes / sizeof(std::uint64_t));
    if (bytes > usual &&
        !read_at(file_, words.data() + usual / sizeof(std::uint64_t), bytes - usual, offset_ + at + usual))
      return {};
    auto* record = reinterpret_cast<TranslationRecord*>(words.data());
    if (wire::copy_and_sum(record, record, bytes) != record->sum) return {};
    return words;
  }

 private:
  int file_;
  std::uint64_t offset_;
  std::unique_ptr<TranslationStore> store_ = std::make_unique<TranslationStore>();  // larger than some stacks
  bool valid_;
};

const TranslationRecord& header_of(const std::vector<std::uint64_t>& record) {
  return *reinterpret_cast<const TranslationRecord*>(record.data());
}

/// What tells blocks apart, roughly: two processes may keep the same one.
std::uint64_t identity_of(const TranslationRecord& record) {
  return (record.pc * 0x9e37'79b9'7f4a'7c15 ^ record.code) * 0x9e37'79b9'7f4a'7c15 + record.bytes;
}

/// An open file of the right size, which is not somebody else's. Nothing is waited for: it may be a FIFO.
Descriptor open_file(const std::string& path, int flags) {
  Descriptor file(open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status = {};
  if (!file.valid() || fstat(file.number(), &status) != 0 || !S_ISREG(status.st_mode) ||
      !is_private(status) || static_cast<std::uint64_t>(status.st_size) != kTranslationStoreBytes)
    return {};
  return file;
}

enum class Appended {
  kAll,
  kNotAll,    ///< it could not be written; what is there is as good as before
  kUnusable,  ///< the file cannot take them: it is to be replaced
};

/// Appends the blocks of `from` to the file.
Appended append(int file, const StoreReader& from) {
  const StoreReader to(file, 0);
  if (!to.valid() || to.store().build != from.store().build) return Appended::kUnusable;
  std::uint64_t used = to.store().used;
  constexpr std::uint64_t kRoom = wire::kTranslationRoom;
  if (used % kTranslationUnit != 0 || used > kRoom || from.store().used > kRoom - used)
    return Appended::kUnusable;

  std::vector<std::uint64_t> added;  // what comes behind `used`
  std::vector<std::pair<std::uint32_t, std::uint32_t>> heads;
  for (std::uint32_t chain = 0; chain < kTranslationChains; ++chain) {
    std::uint32_t unit = from.store().first[chain];
    if (unit == 0) continue;
    std::unordered_set<std::uint64_t> known;
    std::uint32_t last = to.store().first[chain];
    for (std::uint32_t at = last; at != 0;) {
      const auto record = to.record(at);
      // Each is there once, or the chain goes in a circle.
      if (record.empty() || !known.insert(identity_of(header_of(record))).second) return Appended::kUnusable;
      at = header_of(record).next;
    }
    std::vector<std::vector<std::uint64_t>> records;
    for (std::uint32_t i = 0; unit != 0 && i < kTranslationChains; ++i) {
      auto record = from.record(unit);
      if (record.empty()) break;
      unit = header_of(record).next;
      if (known.insert(identity_of(header_of(record))).second) records.push_back(std::move(record));
    }
    const std::uint32_t before = last;
    for (auto record = records.rbegin(); record != records.rend(); ++record) {  // the oldest first
      reinterpret_cast<TranslationRecord*>(record->data())->next = last;
      last = static_cast<std::uint32_t>((kRecords + used) / kTranslationUnit +
                                        added.size() * 8 / kTranslationUnit);
      added.insert(added.end(), record->begin(), record->end());
    }
    if (last != before) heads.emplace_back(chain, last);
  }
  const std::uint64_t bytes = added.size() * sizeof(std::uint64_t), end = used + bytes;
  if (!write_at(file, added.data(), bytes, kRecords + used) ||
      !write_at(file, &end, sizeof end, offsetof(TranslationStore, used))) {
    // Nothing refers to it. What could be written is given back.
    fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(kRecords + used),
              static_cast<off_t>(bytes));
    return Appended::kNotAll;
  }
  bool all = true;
  for (const auto& [chain, unit] : heads)
    all &= write_at(file, &unit, sizeof unit, offsetof(TranslationStore, first) + chain * sizeof unit);
  return all ? Appended::kAll : Appended::kNotAll;
}

/// Puts a new file with the blocks of `from` in the place of `path`.
void replace(const std::string& path, const StoreReader& from) {
  const std::string fresh = fmt::format("{}.{}", path, getpid());
  {
    const Descriptor file(open(fresh.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    const std::uint64_t build = from.store().build;
    if (file.valid() && ftruncate(file.number(), kTranslationStoreBytes) == 0 &&
        write_at(file.number(), &build, sizeof build, offsetof(TranslationStore, build)) &&
        append(file.number(), from) == Appended::kAll && rename(fresh.c_str(), path.c_str()) == 0)
      return;
  }
  unlink(fresh.c_str());
}

}  // namespace

TranslationChoice choose_translations(bool refused) {
  const char* given = std::getenv("DETREC_TRANSLATION_CACHE");
  const std::string_view choice = given == nullptr ? "" : given;
  if (refused || choice == "off") return {false, {}};
  if (choice == "session") return {true, {}};
  if (!choice.empty()) return {true, std::filesystem::absolute(choice).string()};
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/')
    return {true, fmt::format("{}/detrec", cache)};
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/')
    return {true, fmt::format("{}/.cache/detrec", home)};
  return {true, {}};
}

TranslationCache::TranslationCache(const std::string& directory, const std::string& engine_path)
    : directory_(directory) {
  if (directory.empty() || directory.front() != '/') return;
  std::string path = fmt::format("{}/{}", directory, file_name(engine_path));
  if (path.size() < sizeof wire::TranslationFile::path) path_ = std::move(path);
}

void TranslationCache::announce(wire::Launch& launch) const {
  if (path_.empty() || !is_private_directory(directory_)) return;
  const Descriptor file = open_file(path_, O_RDONLY);
  struct stat status = {};
  if (!file.valid() || fstat(file.number(), &status) != 0) return;
  launch.translation_file.device = status.st_dev;
  launch.translation_file.inode = status.st_ino;
  std::memcpy(launch.translation_file.path, path_.c_str(), path_.size() + 1);
}

void TranslationCache::take_over(int channel, const wire::Launch& launch) const {
  if (path_.empty() || launch.translations_offset == 0) return;
  const StoreReader run(channel, launch.translations_offset);
  if (!run.valid() || run.store().build == 0 || run.store().used < kWorthKeeping) return;
  const OwnFiles own;
  if (!make_private_directory(directory_)) return;
  const Descriptor file = open_file(path_, O_RDWR);
  const bool locked = file.valid() && flock(file.number(), LOCK_EX | LOCK_NB) == 0;
  // Whoever has the lock keeps what most runs have; what only this one had is lost until the next.
  if (file.valid() && (!locked || append(file.number(), run) != Appended::kUnusable)) return;
  replace(path_, run);
  remove_oldest(directory_);
}

}  // namespace detrec::frontend
