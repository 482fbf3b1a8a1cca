// /proc/self/mem and process_vm_readv/writev on ourselves: reads, writes, also to pages that are read-only,
// and errors.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include "guest.h"

static char data[64] = "original";

int main(void) {
  int fd = open("/proc/self/mem", O_RDWR);
  REQUIRE(fd >= 0);
  char buffer[64];
  EXPECT_EQ(pread(fd, buffer, 8, (off_t)(uintptr_t)data), 8);
  EXPECT(memcmp(buffer, "original", 8) == 0);
  EXPECT_EQ(pwrite(fd, "replaced", 8, (off_t)(uintptr_t)data), 8);
  printf("%s\n", data);
  EXPECT_EQ(lseek(fd, (off_t)(uintptr_t)data, SEEK_SET), (off_t)(uintptr_t)data);
  EXPECT_EQ(write(fd, "by seek", 8), 8);
  printf("%s\n", data);
  char* page = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(page != MAP_FAILED);
  long written = pwrite(fd, "forced", 7, (off_t)(uintptr_t)page);  // kernels may be set up to refuse this
  printf("read-only page: %ld %s\n", written, written == 7 ? page : strerrorname_np(errno));
  REQUIRE(munmap(page + 4096, 4096) == 0);
  EXPECT_EQ(pread(fd, buffer, 64, (off_t)(uintptr_t)page + 4096 - 10), 10);
  EXPECT_ERROR(pread(fd, buffer, 8, (off_t)(uintptr_t)page + 4096), EIO);
  char name[64];
  snprintf(name, sizeof name, "/proc/%d/mem", getpid());
  int other = open(name, O_RDONLY);
  REQUIRE(other >= 0);
  EXPECT_EQ(pread(other, buffer, 8, (off_t)(uintptr_t)data), 8);
  EXPECT(strcmp(buffer, "by seek") == 0);

  struct iovec local[2] = {{buffer, 4}, {buffer + 8, 4}}, remote = {data, 8};
  memset(buffer, 0, sizeof buffer);
  EXPECT_EQ(process_vm_readv(getpid(), local, 2, &remote, 1, 0), 8);
  printf("%.4s|%.4s\n", buffer, buffer + 8);
  memcpy(buffer, "ABCD", 4);
  EXPECT_EQ(process_vm_writev(getpid(), local, 1, &remote, 1, 0), 4);
  printf("%s\n", data);
  remote.iov_base = page + 4096;
  EXPECT_ERROR(process_vm_readv(getpid(), local, 1, &remote, 1, 0), EFAULT);
  remote.iov_base = page + 4096 - 6;  // the second part of the remote buffer is missing
  EXPECT_EQ(process_vm_readv(getpid(), local, 2, &remote, 1, 0), 6);
  EXPECT_ERROR(process_vm_readv(0x7ffffffe, local, 1, &remote, 1, 0), ESRCH);
  return guest_result();
}
