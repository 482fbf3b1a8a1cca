#include "tests/unit/storage/failing_files.h"

#include <sqlite3.h>

#include <new>

namespace detrec::storage::testing {
namespace {

std::atomic<std::int64_t> done{0};
std::atomic<std::int64_t> limit{0};
std::atomic<FileFailure> failure{FileFailure::kNone};

struct File {
  sqlite3_file base;
  sqlite3_file* real;
};

sqlite3_file* real(sqlite3_file* file) { return reinterpret_cast<File*>(file)->real; }
const sqlite3_io_methods* methods(sqlite3_file* file) { return real(file)->pMethods; }

/// The error that an operation shall end with; SQLITE_OK: none.
int injected(bool is_sync) {
  if (done.fetch_add(1) < limit.load()) return SQLITE_OK;
  switch (failure.load()) {
    case FileFailure::kNone:
      return SQLITE_OK;
    case FileFailure::kFull:
      return is_sync ? SQLITE_OK : SQLITE_FULL;
    case FileFailure::kWriteError:
      return is_sync ? SQLITE_OK : SQLITE_IOERR_WRITE;
    case FileFailure::kSyncError:
      return is_sync ? SQLITE_IOERR_FSYNC : SQLITE_OK;
  }
  return SQLITE_OK;
}

int close_file(sqlite3_file* file) {
  const int code = methods(file)->xClose(real(file));
  sqlite3_free(real(file));
  return code;
}
int write_file(sqlite3_file* file, const void* data, int size, sqlite3_int64 offset) {
  if (const int code = injected(false); code != SQLITE_OK) return code;
  return methods(file)->xWrite(real(file), data, size, offset);
}
int sync_file(sqlite3_file* file, int flags) {
  if (const int code = injected(true); code != SQLITE_OK) return code;
  return methods(file)->xSync(real(file), flags);
}

const sqlite3_io_methods kMethods = {
    3,
    close_file,
    [](sqlite3_file* f, void* to, int size, sqlite3_int64 at) {
      return methods(f)->xRead(real(f), to, size, at);
    },
    write_file,
    [](sqlite3_file* f, sqlite3_int64 size) { return methods(f)->xTruncate(real(f), size); },
    sync_file,
    [](sqlite3_file* f, sqlite3_int64* size) { return methods(f)->xFileSize(real(f), size); },
    [](sqlite3_file* f, int level) { return methods(f)->xLock(real(f), level); },
    [](sqlite3_file* f, int level) { return methods(f)->xUnlock(real(f), level); },
    [](sqlite3_file* f, int* held) { return methods(f)->xCheckReservedLock(real(f), held); },
    [](sqlite3_file* f, int op, void* arg) { return methods(f)->xFileControl(real(f), op, arg); },
    [](sqlite3_file* f) { return methods(f)->xSectorSize(real(f)); },
    [](sqlite3_file* f) { return methods(f)->xDeviceCharacteristics(real(f)); },
    [](sqlite3_file* f, int page, int size, int extend, void volatile** to) {
      return methods(f)->xShmMap(real(f), page, size, extend, to);
    },
    [](sqlite3_file* f, int offset, int n, int flags) {
      return methods(f)->xShmLock(real(f), offset, n, flags);
    },
    [](sqlite3_file* f) { methods(f)->xShmBarrier(real(f)); },
    [](sqlite3_file* f, int remove) { return methods(f)->xShmUnmap(real(f), remove); },
    [](sqlite3_file*, sqlite3_int64, int, void** to) {
      *to = nullptr;
      return SQLITE_OK;
    },
    [](sqlite3_file*, sqlite3_int64, void*) { return SQLITE_OK; },
};

sqlite3_vfs* base_vfs = nullptr;
sqlite3_vfs vfs;

int open_file(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  auto* own = reinterpret_cast<File*>(file);
  own->base.pMethods = nullptr;
  own->real = static_cast<sqlite3_file*>(sqlite3_malloc(base_vfs->szOsFile));
  const int code = base_vfs->xOpen(base_vfs, name, own->real, flags, out_flags);
  if (code == SQLITE_OK) {
    own->base.pMethods = &kMethods;
  } else {
    sqlite3_free(own->real);
  }
  return code;
}

}  // namespace

FailingFiles::FailingFiles() {
  base_vfs = sqlite3_vfs_find(nullptr);
  vfs = *base_vfs;
  vfs.szOsFile = sizeof(File);
  vfs.zName = "failing-files";
  vfs.xOpen = open_file;
  fail_after(0, FileFailure::kNone);
  sqlite3_vfs_register(&vfs, 0);
}

FailingFiles::~FailingFiles() { sqlite3_vfs_unregister(&vfs); }

void FailingFiles::fail_after(std::int64_t operations, FileFailure what) {
  done = 0;
  limit = operations;
  failure = what;
}

std::int64_t FailingFiles::operations() const { return done; }

}  // namespace detrec::storage::testing
