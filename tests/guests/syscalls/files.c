// Files: creation modes, appending, exclusive and nameless files, holes, links, renames, times, permissions,
// directories as descriptors; stat, fstatat and statx agree.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

#include "guest.h"

int main(void) {
  umask(022);
  int fd = open("file", O_RDWR | O_CREAT | O_EXCL, 0666);
  REQUIRE(fd >= 0);
  EXPECT_ERROR(open("file", O_RDWR | O_CREAT | O_EXCL, 0666), EEXIST);
  EXPECT_EQ(write(fd, "hello world", 11), 11);
  EXPECT_EQ(lseek(fd, 1 << 20, SEEK_SET), 1 << 20);
  EXPECT_EQ(write(fd, "end", 3), 3);
  EXPECT_EQ(lseek(fd, 5000, SEEK_DATA) >= 5000, 1);
  EXPECT(lseek(fd, 0, SEEK_HOLE) > 0);
  EXPECT_ERROR(lseek(fd, -1, SEEK_SET), EINVAL);
  EXPECT_ERROR(lseek(fd, 0, 77), EINVAL);
  struct stat by_fd, by_name, by_at;
  struct statx extended;
  EXPECT_EQ(fstat(fd, &by_fd), 0);
  EXPECT_EQ(stat("file", &by_name), 0);
  EXPECT_EQ(fstatat(AT_FDCWD, "file", &by_at, 0), 0);
  EXPECT_EQ(statx(AT_FDCWD, "file", 0, STATX_BASIC_STATS, &extended), 0);
  EXPECT(memcmp(&by_fd, &by_name, sizeof by_fd) == 0 && memcmp(&by_fd, &by_at, sizeof by_fd) == 0);
  EXPECT_EQ(extended.stx_ino, by_fd.st_ino);
  EXPECT_EQ(extended.stx_size, by_fd.st_size);
  printf("mode %o, size %ld, links %ld\n", by_fd.st_mode, by_fd.st_size, (long)by_fd.st_nlink);
  EXPECT_EQ(fstatat(fd, "", &by_at, AT_EMPTY_PATH), 0);
  EXPECT_EQ(by_at.st_ino, by_fd.st_ino);

  int append = open("file", O_WRONLY | O_APPEND);
  EXPECT_EQ(ftruncate(fd, 5), 0);
  EXPECT_EQ(write(append, " there", 6), 6);
  char buffer[4096];
  EXPECT_EQ(pread(fd, buffer, sizeof buffer, 0), 11);
  printf("%.11s\n", buffer);
  int nameless = open(".", O_TMPFILE | O_RDWR, 0600);
  if (nameless >= 0) {
    EXPECT_EQ(write(nameless, "x", 1), 1);
    EXPECT_EQ(fstat(nameless, &by_at), 0);
    EXPECT_EQ(by_at.st_nlink, 0);
  } else {
    EXPECT_EQ(errno, EOPNOTSUPP);
  }

  EXPECT_EQ(mkdir("folder", 0755), 0);
  EXPECT_ERROR(mkdir("folder", 0755), EEXIST);
  int folder = open("folder", O_RDONLY | O_DIRECTORY | O_PATH);
  REQUIRE(folder >= 0);
  EXPECT_EQ(link("file", "folder/hard"), 0);
  EXPECT_EQ(symlinkat("../file", folder, "soft"), 0);
  EXPECT_EQ(readlinkat(folder, "soft", buffer, sizeof buffer), 7);
  EXPECT_EQ(fstatat(folder, "soft", &by_at, AT_SYMLINK_NOFOLLOW), 0);
  EXPECT(S_ISLNK(by_at.st_mode));
  EXPECT_EQ(fstatat(folder, "soft", &by_at, 0), 0);
  EXPECT_EQ(by_at.st_nlink, 2);
  EXPECT_EQ(renameat(folder, "hard", AT_FDCWD, "renamed"), 0);
  EXPECT_ERROR(renameat2(AT_FDCWD, "renamed", AT_FDCWD, "file", RENAME_NOREPLACE), EEXIST);
  EXPECT_EQ(symlink("loop", "loop"), 0);
  EXPECT_ERROR(open("loop", O_RDONLY), ELOOP);
  EXPECT_ERROR(open("folder/soft", O_RDONLY | O_NOFOLLOW), ELOOP);
  EXPECT_ERROR(open("file/x", O_RDONLY), ENOTDIR);
  EXPECT_ERROR(open("folder", O_WRONLY), EISDIR);
  EXPECT_ERROR(open("nothing", O_RDONLY), ENOENT);
  EXPECT_ERROR(open("", O_RDONLY), ENOENT);
  memset(buffer, 'n', 300);
  buffer[300] = 0;
  EXPECT_ERROR(open(buffer, O_RDONLY), ENAMETOOLONG);
  EXPECT_ERROR(rmdir("folder"), ENOTEMPTY);
  EXPECT_EQ(unlinkat(folder, "soft", 0), 0);
  EXPECT_ERROR(unlink("folder"), EISDIR);
  EXPECT_EQ(unlinkat(AT_FDCWD, "folder", AT_REMOVEDIR), 0);

  struct timespec times[2] = {{1000000, 5}, {2000000, 7}};
  EXPECT_EQ(utimensat(AT_FDCWD, "file", times, 0), 0);
  EXPECT_EQ(stat("file", &by_name), 0);
  printf("times %ld.%ld %ld.%ld\n", by_name.st_atim.tv_sec, by_name.st_atim.tv_nsec, by_name.st_mtim.tv_sec,
         by_name.st_mtim.tv_nsec);
  EXPECT_EQ(fchmod(fd, 0640), 0);
  EXPECT_EQ(chmod("file", 0600), 0);
  EXPECT_EQ(chown("file", getuid(), getgid()), 0);
  EXPECT_EQ(access("file", R_OK | W_OK), 0);
  EXPECT_ERROR(access("nothing", F_OK), ENOENT);
  EXPECT_EQ(faccessat(AT_FDCWD, "file", R_OK, AT_EACCESS), 0);
  EXPECT_EQ(truncate("file", 3), 0);
  EXPECT_EQ(posix_fallocate(fd, 0, 8192), 0);
  EXPECT_EQ(fstat(fd, &by_fd), 0);
  EXPECT_EQ(by_fd.st_size, 8192);
  EXPECT_EQ(fsync(fd) | fdatasync(fd), 0);
  EXPECT_EQ(posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL), 0);
  struct statfs file_system;
  struct statvfs portable;
  EXPECT_EQ(statfs(".", &file_system) | fstatfs(fd, &file_system) | statvfs(".", &portable), 0);
  EXPECT_EQ(file_system.f_bsize, portable.f_bsize);
  if (fsetxattr(fd, "user.guest", "value", 5, 0) == 0) {
    EXPECT_EQ(getxattr("file", "user.guest", buffer, sizeof buffer), 5);
    EXPECT_EQ(flistxattr(fd, buffer, sizeof buffer) > 0, 1);
    EXPECT_EQ(removexattr("file", "user.guest"), 0);
  }
  int copy = open("copy", O_RDWR | O_CREAT, 0600);
  off_t offset = 1;
  EXPECT_EQ(sendfile(copy, fd, &offset, 100), 100);
  EXPECT_EQ(offset, 101);
  offset = 0;
  EXPECT_EQ(copy_file_range(fd, &offset, copy, NULL, 50, 0), 50);
  EXPECT_EQ(lseek(copy, 0, SEEK_CUR), 150);

  EXPECT_EQ(mkdir("deep", 0700), 0);
  EXPECT_EQ(chdir("deep"), 0);
  EXPECT(getcwd(buffer, sizeof buffer) != NULL);
  EXPECT(strcmp(buffer + strlen(buffer) - 5, "/deep") == 0);
  int above = open("..", O_RDONLY);
  EXPECT_EQ(fchdir(above), 0);
  EXPECT_EQ(access("deep", F_OK), 0);
  int null = open("/dev/null", O_RDWR);
  EXPECT_EQ(fstat(null, &by_fd), 0);
  EXPECT(S_ISCHR(by_fd.st_mode) && major(by_fd.st_rdev) == 1 && minor(by_fd.st_rdev) == 3);
  EXPECT_ERROR(flock(999, LOCK_EX), EBADF);
  return guest_result();
}
