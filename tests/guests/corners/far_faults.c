// Far transfers to selectors that cannot be used fault at the instruction, with the selector as error code.
#include "signals/faults.h"

FAULT_STUB(return_null, "push $0\n push $0x1000\n at_return_null: lretq\n")
FAULT_STUB(return_bad, "push $0x1234\n push $0x1000\n at_return_bad: lretq\n")
FAULT_STUB(return_kernel, "push $0x10\n push $0x1000\n at_return_kernel: lretq\n")
FAULT_STUB(
    interrupt_return_bad,
    "push $0x2b\n push %rsp\n push $0x202\n push $0x1234\n push $0x1000\n at_interrupt_return_bad: iretq\n")
FAULT_STUB(load_ds, "mov $0x1234, %eax\n at_load_ds: mov %eax, %ds\n")
FAULT_STUB(load_fs_bad, "mov $0x1234, %eax\n at_load_fs_bad: mov %eax, %es\n")
FAULT_STUB(load_ss_null, "xor %eax, %eax\n at_load_ss_null: mov %eax, %ss\n")
FAULT_STUB(load_cs, "at_load_cs: .byte 0x8e, 0xc8\n")

#define CASE(name) \
  { #name, &fault_stub_##name }

int main(void) {
  catch_faults();
  static const struct {
    const char* name;
    const FaultStub* stub;
  } kCases[] = {CASE(return_null), CASE(return_bad),  CASE(return_kernel), CASE(interrupt_return_bad),
                CASE(load_ds),     CASE(load_fs_bad), CASE(load_ss_null),  CASE(load_cs)};
  for (size_t i = 0; i < sizeof kCases / sizeof kCases[0]; i++) {
    fault_set_registers(5, 0x202);
    fault_run(kCases[i].stub);
    printf("%s: signal %d, code %d, trap %lu, error %lx, pc %+ld\n", kCases[i].name, fault.number, fault.code,
           (unsigned long)fault.trap, (unsigned long)fault.error,
           (long)(fault.registers.rip - (uint64_t)kCases[i].stub->at));
    EXPECT_EQ(fault.count, 1);
    EXPECT(fault.registers.rip == (uint64_t)kCases[i].stub->at);
  }
  return guest_result();
}
