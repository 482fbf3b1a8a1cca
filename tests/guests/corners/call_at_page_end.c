// A call whose return address would lie half in a page that cannot be written faults and writes nothing,
// whether the call is direct or indirect, met for the first time or often.
#include <sys/mman.h>

#include "signals/faults.h"

uint64_t call_target;
static char* far_code;  // above 4 GiB: call *%rsi

FAULT_STUB(direct, "mov %rdi, %rsp\n at_direct: call resume_direct\n")
FAULT_STUB(by_register, "mov %rdi, %rsp\n at_by_register: call *%rsi\n")
FAULT_STUB(by_memory, "mov %rdi, %rsp\n at_by_memory: call *call_target(%rip)\n")
FAULT_STUB(from_far, "mov %rdi, %rsp\n at_from_far: jmp *%rdx\n")

static char* page;

static void expect_no_push(const FaultStub* stub, unsigned behind) {
  char before[8], *end = page + 4096;
  memset(end - 8, 0x5a, 8);
  memcpy(before, end - 8, 8);
  fault_set_registers(behind, 0x202);
  fault_before.gpr[7] = (uint64_t)end + behind;
  fault_before.gpr[6] = call_target = (uint64_t)stub->resume;
  fault_before.gpr[2] = (uint64_t)far_code;
  fault_run(stub);
  EXPECT_EQ(fault.number, SIGSEGV);
  EXPECT(fault.address == (uintptr_t)end);
  EXPECT(fault.registers.rip == (uint64_t)(stub == &fault_stub_from_far ? far_code : stub->at));
  EXPECT(fault.registers.gpr[4] == fault_before.gpr[7]);
  fault_expect_registers("call", 0);
  EXPECT(memcmp(end - 8, before, 8) == 0);
}

static void expect_push(const FaultStub* stub) {
  fault_set_registers(0, 0x202);
  fault_before.gpr[7] = (uint64_t)page + 2048;
  fault_before.gpr[6] = call_target = (uint64_t)stub->resume;
  fault_before.gpr[2] = (uint64_t)far_code;
  fault_run(stub);
  EXPECT_EQ(fault.count, 0);
}

int main(void) {
  catch_faults();
  page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(page != MAP_FAILED && mprotect(page + 4096, 4096, PROT_READ) == 0);
  far_code = mmap((void*)0x230012340000, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  REQUIRE(far_code == (char*)0x230012340000);
  memcpy(far_code, "\xff\xd6", 2);
  const FaultStub* const stubs[] = {&fault_stub_direct, &fault_stub_by_register, &fault_stub_by_memory,
                                    &fault_stub_from_far};
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < 4; i++) {
      for (unsigned behind = 1; behind < 8; behind++) expect_no_push(stubs[i], behind);
      expect_push(stubs[i]);
    }
  }
  printf("nothing was written\n");
  return guest_result();
}
