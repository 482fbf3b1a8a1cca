// Returning through a stack slot that can be read but not written, from a shared one, and calling with a
// read-only slot.
#include <sys/mman.h>

#include "signals/faults.h"

static uint64_t result, again;
static char* page;
static uint64_t slot_address;

FAULT_STUB(call_into_read_only, "mov %rdi, %rsp\n at_call_into_read_only: call resume_call_into_read_only\n")

int main(void) {
  catch_faults();
  page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char* shared = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(page != MAP_FAILED && shared != MAP_FAILED);
  for (int i = 0; i < 200; i++) {
    // Put a return address into the page, protect it, return through it.
    for (int kind = 0; kind < 2; kind++) {
      char* at = kind ? shared : page;
      REQUIRE(mprotect(at, 4096, PROT_READ | PROT_WRITE) == 0);
      slot_address = (uint64_t)at + 2048;
      __asm__ volatile("lea 1f(%%rip), %%rax\n mov %%rax, (%0)\n jmp 2f\n 1: jmp *%%rdx\n 2:"
                       :
                       : "r"(slot_address)
                       : "rax", "memory");
      REQUIRE(mprotect(at, 4096, PROT_READ) == 0);
      __asm__ volatile(
          "mov %%rsp, %%rbx\n lea 3f(%%rip), %%rdx\n mov %1, %%rsp\n xor %%ecx, %%ecx\n stc\n"
          "ret\n"
          "ud2\n"
          "3: setc %%cl\n mov %%rsp, %%rax\n mov %%rbx, %%rsp\n mov %%rax, %0\n"
          : "=r"(result)
          : "r"(slot_address)
          : "rax", "rbx", "rcx", "rdx", "memory", "cc");
      EXPECT_EQ(result - slot_address, 8);
      EXPECT(*(uint64_t*)slot_address != 0);
    }
  }
  // A call made while the slot was writable, returned from after it became read-only: by the kernel call in
  // between.
  for (int i = 0; i < 100; i++) {
    REQUIRE(mprotect(page, 4096, PROT_READ | PROT_WRITE) == 0);
    __asm__ volatile(
        "mov %%rsp, %%rbx\n lea 2048(%1), %%rsp\n"
        "call 1f\n"
        "jmp 2f\n"
        "1: mov $10, %%eax\n mov %1, %%rdi\n mov $4096, %%esi\n mov $1, %%edx\n syscall\n"  // mprotect(page,
                                                                                            // 4096,
                                                                                            // PROT_READ)
        "ret\n"
        "2: mov %%rsp, %0\n mov %%rbx, %%rsp\n"
        : "=&a"(again)
        : "r"(page)
        : "rbx", "rcx", "rdx", "rsi", "rdi", "r11", "memory", "cc");
    EXPECT_EQ(again - (uint64_t)page, 2048);
  }
  // A call whose slot is read-only faults at the call, before anything has changed.
  fault_set_registers(1, 0x202);
  fault_before.gpr[7] = (uint64_t)page + 1024;
  fault_run(&fault_stub_call_into_read_only);
  EXPECT_EQ(fault.number, SIGSEGV);
  EXPECT(fault.address == (uint64_t)page + 1016);
  EXPECT(fault.registers.rip == (uint64_t)at_call_into_read_only);
  EXPECT(fault.registers.gpr[4] == (uint64_t)page + 1024);
  fault_expect_registers("call", 0);
  printf("done\n");
  return guest_result();
}
