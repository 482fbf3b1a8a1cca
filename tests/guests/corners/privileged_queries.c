// Instructions that tell about the machine (lsl, lar, verr, verw, sgdt, sidt, sldt, str, smsw, rdpmc): they
// work, fail by the zero flag or fault as natively; sgdt and its like are only compared in how they end.
#include "signals/faults.h"

FAULT_STUB(counter, "xor %ecx, %ecx\n at_counter: rdpmc\n")
FAULT_STUB(descriptor_table, "sub $64, %rsp\n at_descriptor_table: sgdt (%rsp)\n")
FAULT_STUB(interrupt_table, "sub $64, %rsp\n at_interrupt_table: sidt (%rsp)\n")
FAULT_STUB(local_table, "at_local_table: sldt %rax\n")
FAULT_STUB(task, "at_task: str %rax\n")
FAULT_STUB(machine_status, "at_machine_status: smsw %rax\n")

#define CASE(name) \
  { #name, &fault_stub_##name }

int main(void) {
  catch_faults();
  static const struct {
    const char* name;
    const FaultStub* stub;
  } kCases[] = {CASE(counter), CASE(descriptor_table), CASE(interrupt_table), CASE(local_table),
                CASE(task),    CASE(machine_status)};
  for (size_t i = 0; i < sizeof kCases / sizeof kCases[0]; i++) {
    fault_set_registers(5, 0x202);
    fault_run(kCases[i].stub);
    printf("%s: signal %d, code %d, trap %lu, pc %+ld\n", kCases[i].name, fault.number, fault.code,
           (unsigned long)fault.trap,
           fault.count ? (long)(fault.registers.rip - (uint64_t)kCases[i].stub->at) : 0L);
  }
  // Selectors: own code and data, the null one, one that does not exist, one of the kernel's.
  static const uint16_t kSelectors[] = {0x33, 0x2b, 0, 0x1234, 0x10};
  for (int i = 0; i < 5; i++) {
    uint64_t limit = 0x1111111111111111, access = 0x2222222222222222;
    unsigned char limit_valid, access_valid, readable, writable;
    __asm__ volatile("lsl %3, %0\n setz %1"
                     : "+r"(limit), "=q"(limit_valid), "+r"(access)
                     : "r"((uint64_t)kSelectors[i])
                     : "cc");
    __asm__ volatile("lar %2, %0\n setz %1"
                     : "+r"(access), "=q"(access_valid)
                     : "r"((uint64_t)kSelectors[i])
                     : "cc");
    __asm__ volatile("verr %1\n setz %0" : "=q"(readable) : "r"(kSelectors[i]) : "cc");
    __asm__ volatile("verw %1\n setz %0" : "=q"(writable) : "r"(kSelectors[i]) : "cc");
    printf("%x: limit %d %lx, access %d %lx, read %d, write %d\n", kSelectors[i], limit_valid, limit,
           access_valid, access, readable, writable);
  }
  // The selector that holds the processor's number, which getcpu uses: valid; the number is below what
  // exists.
  uint64_t cpu = 0;
  unsigned char valid;
  __asm__ volatile("lsl %2, %0\n setz %1" : "+r"(cpu), "=q"(valid) : "r"(0x7bul) : "cc");
  EXPECT(!valid || (cpu & 0xfff) < 4096);
  return guest_result();
}
