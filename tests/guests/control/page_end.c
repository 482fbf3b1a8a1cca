// Code that ends with its last byte on the last byte before unmapped memory runs; code that runs on faults
// exactly there.
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "guest.h"

static sigjmp_buf back;
static volatile uintptr_t fault_address, fault_pc;
static volatile int fault_code;

static void on_fault(int number, siginfo_t* info, void* context) {
  (void)number;
  fault_address = (uintptr_t)info->si_addr;
  fault_code = info->si_code;
  fault_pc = (uintptr_t)((ucontext_t*)context)->uc_mcontext.gregs[REG_RIP];
  siglongjmp(back, 1);
}

typedef int (*Function)(int);

static Function place(char* end, const void* code, size_t size) {
  memcpy(end - size, code, size);
  return (Function)(end - size);
}

int main(void) {
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
  sigaction(SIGSEGV, &action, NULL);
  char* area = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(area != MAP_FAILED);
  REQUIRE(munmap(area + 8192, 4096) == 0);
  char* end = area + 8192;

  // lea 5(%rdi), %eax; ret - as the last bytes of the page.
  static const unsigned char kPlain[] = {0x8d, 0x47, 0x05, 0xc3};
  EXPECT_EQ(place(end, kPlain, sizeof kPlain)(10), 15);

  // A jump back as the last instruction: jmp to the "lea; ret" four bytes before it.
  static const unsigned char kJump[] = {0x8d, 0x47, 0x06, 0xc3, 0xeb, 0xfa};
  Function function = place(end, kJump, sizeof kJump);
  EXPECT_EQ(((Function)((char*)function + 4))(10), 16);

  // A taken conditional jump as the last instruction: xor eax,eax before a je back.
  static const unsigned char kConditional[] = {0x8d, 0x47, 0x07, 0xc3, 0x39, 0xc0, 0x74, 0xf8};
  function = place(end, kConditional, sizeof kConditional);
  EXPECT_EQ(((Function)((char*)function + 4))(10), 17);

  // A function that spans the two mapped pages.
  static const unsigned char kSpan[] = {0x8d, 0x47, 0x01, 0x83, 0xc0, 0x02,
                                        0x05, 0x03, 0x00, 0x00, 0x00, 0xc3};
  for (size_t i = 1; i < sizeof kSpan; i++) {
    memcpy(area + 4096 - i, kSpan, sizeof kSpan);
    EXPECT_EQ(((Function)(area + 4096 - i))(100), 106);
  }

  // Running off the end: nops, then nothing. The pc is the first missing byte.
  memset(end - 8, 0x90, 8);
  if (sigsetjmp(back, 1) == 0) {
    ((Function)(end - 8))(0);
    EXPECT(!"returned");
  }
  EXPECT(fault_address == (uintptr_t)end);
  EXPECT(fault_pc == (uintptr_t)end);
  EXPECT_EQ(fault_code, SEGV_MAPERR);

  // An instruction cut off by the end: the pc is its first byte, the address the first missing one.
  static const unsigned char kCut[] = {0x90, 0xb8, 0x01, 0x02};  // nop; mov $..., %eax without its last bytes
  function = place(end, kCut, sizeof kCut);
  if (sigsetjmp(back, 1) == 0) {
    function(0);
    EXPECT(!"returned");
  }
  EXPECT(fault_pc == (uintptr_t)end - 3);
  EXPECT(fault_address == (uintptr_t)end);

  // The same when the next page is there but may not be executed.
  REQUIRE(mmap(end, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == end);
  if (sigsetjmp(back, 1) == 0) {
    function(0);
    EXPECT(!"returned");
  }
  EXPECT(fault_pc == (uintptr_t)end - 3);
  EXPECT(fault_address == (uintptr_t)end);
  EXPECT_EQ(fault_code, SEGV_ACCERR);

  // When it becomes executable and is filled in, the same instruction runs: mov $0x04030201, %eax; ret.
  end[0] = 0x03;
  end[1] = 0x04;
  end[2] = (char)0xc3;
  REQUIRE(mprotect(end, 4096, PROT_READ | PROT_EXEC) == 0);
  EXPECT_EQ(function(0), 0x04030201);

  // A jump and a call to nowhere: the pc is the target.
  if (sigsetjmp(back, 1) == 0) {
    ((Function)0x10)(0);
    EXPECT(!"returned");
  }
  EXPECT(fault_pc == 0x10 && fault_address == 0x10);
  EXPECT_EQ(fault_code, SEGV_MAPERR);
  if (sigsetjmp(back, 1) == 0) {
    ((Function)(uintptr_t)&back)(0);
    EXPECT(!"returned");
  }
  EXPECT(fault_pc == (uintptr_t)&back && fault_address == (uintptr_t)&back);
  EXPECT_EQ(fault_code, SEGV_ACCERR);
  return guest_result();
}
