// SIGBUS: reading and writing a mapped file behind its end, and with alignment checking switched on.
#include <fcntl.h>
#include <sys/mman.h>

#include "signals/faults.h"

FAULT_STUB(read_behind, "nop\n at_read_behind: mov 4096(%rdi), %rax\n")
FAULT_STUB(write_behind, "nop\n at_write_behind: movb $1, 5000(%rdi)\n")
FAULT_STUB(unaligned, "pushfq\n orl $0x40000, (%rsp)\n popfq\n at_unaligned: mov 1(%rdi), %rax\n")

int main(void) {
  catch_faults();
  int fd = open("file", O_RDWR | O_CREAT, 0600);
  REQUIRE(fd >= 0 && write(fd, "0123456789", 10) == 10);
  char* map = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  REQUIRE(map != MAP_FAILED);
  EXPECT_EQ(map[9], '9');
  EXPECT_EQ(map[10], 0);
  static const struct {
    const char* name;
    const FaultStub* stub;
  } kCases[] = {{"read behind the end", &fault_stub_read_behind},
                {"write behind the end", &fault_stub_write_behind},
                {"unaligned", &fault_stub_unaligned}};
  for (int i = 0; i < 3; i++) {
    fault_set_registers(9, 0x202);
    fault_before.gpr[7] = (uint64_t)map;
    fault_run(kCases[i].stub);
    printf("%s: signal %d, code %d, at %ld, pc %+ld\n", kCases[i].name, fault.number, fault.code,
           fault.code == BUS_ADRALN ? 0L : (long)(fault.address - (uintptr_t)map),
           (long)(fault.registers.rip - (uint64_t)kCases[i].stub->at));
    EXPECT_EQ(fault.number, SIGBUS);
    fault_expect_registers(kCases[i].name, 0);
  }
  // The file grows: the same place can be read.
  REQUIRE(ftruncate(fd, 8192) == 0);
  EXPECT_EQ(map[5000], 0);
  map[5000] = 'x';
  REQUIRE(ftruncate(fd, 10) == 0);
  fault_set_registers(1, 0x202);
  fault_before.gpr[7] = (uint64_t)map;
  fault_run(&fault_stub_read_behind);
  EXPECT_EQ(fault.number, SIGBUS);
  return guest_result();
}
