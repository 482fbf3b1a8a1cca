// Unmasked floating-point exceptions: x87 (reported at the next x87 instruction) and SSE, with their codes
// and places.
#include <fenv.h>

#include "signals/faults.h"

FAULT_STUB(sse_divide, "at_sse_divide: divsd %xmm1, %xmm0\n")
FAULT_STUB(sse_invalid, "at_sse_invalid: sqrtsd %xmm2, %xmm0\n")
FAULT_STUB(sse_overflow, "at_sse_overflow: mulsd %xmm3, %xmm3\n")
FAULT_STUB(x87_divide, "fld1\n fldz\n fdivrp %st, %st(1)\n nop\n at_x87_divide: fwait\n")

static void run(const char* name, const FaultStub* stub) {
  fault_set_registers(3, 0x202);
  fault_run(stub);
  printf("%s: signal %d, code %d, pc %+ld, own address %d\n", name, fault.number, fault.code,
         (long)(fault.registers.rip - (uint64_t)stub->at), fault.address == fault.registers.rip);
  EXPECT_EQ(fault.number, SIGFPE);
  fault_expect_registers(name, 0);
}

int main(void) {
  catch_faults();
  static const double kOne = 1, kZero = 0, kMinus = -1, kHuge = 1e200;
  unsigned mxcsr = 0x1f80 & ~0x0e80u;  // invalid, divide, overflow, underflow unmasked
  unsigned short control = 0x037f & ~0x0cu;
  for (int i = 0; i < 3; i++) {
    unsigned clean = 0x1f80;
    __asm__ volatile(
        "ldmxcsr %4\n movsd %0, %%xmm0\n movsd %1, %%xmm1\n movsd %2, %%xmm2\n movsd %3, %%xmm3\n"
        :
        : "m"(kOne), "m"(kZero), "m"(kMinus), "m"(kHuge), "m"(mxcsr)
        : "xmm0", "xmm1", "xmm2", "xmm3");
    if (i == 0) run("sse divide", &fault_stub_sse_divide);
    if (i == 1) run("sse invalid", &fault_stub_sse_invalid);
    if (i == 2) run("sse overflow", &fault_stub_sse_overflow);
    __asm__ volatile("ldmxcsr %0" : : "m"(clean));
  }
  __asm__ volatile("fninit\n fldcw %0" : : "m"(control));
  run("x87 divide", &fault_stub_x87_divide);
  __asm__ volatile("fninit");
  return guest_result();
}
