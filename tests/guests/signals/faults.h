// Faults at a known instruction with known registers, for the guests of this folder.
//
// FAULT_STUB(name, text) makes `stub_name`, described by `fault_stub_name`: it loads every general register
// from `fault_before` and then runs `text`, in which the label `at_name:` marks the instruction that is to
// fault. The handler installed by catch_faults() notes everything in `fault` and continues behind the stub.
#pragma once

#include <signal.h>
#include <ucontext.h>

#include "guest.h"

typedef struct {
  uint64_t gpr[16];  ///< in encoding order: rax rcx rdx rbx rsp rbp rsi rdi r8..r15
  uint64_t rip, flags;
} FaultRegisters;

typedef struct {
  void (*run)(void);
  const char* at;
  const char* resume;
} FaultStub;

typedef struct {
  int number, code, count;
  uintptr_t address;
  FaultRegisters registers;
  uint64_t trap, error;
} Fault;

FaultRegisters fault_before;
uint64_t fault_saved_rsp;
static volatile Fault fault;
static const FaultStub* fault_current;

#define FAULT_LOAD(register, index) "mov fault_before + 8*" #index "(%rip), %" #register "\n"
#define FAULT_STUB(name, text)                                                                               \
  __asm__(".text\n.globl stub_" #name ", at_" #name ", resume_" #name                                        \
          "\n"                                                                                               \
          "stub_" #name                                                                                      \
          ":\n"                                                                                              \
          "push %rbx\n push %rbp\n push %r12\n push %r13\n push %r14\n push %r15\n"                          \
          "mov %rsp, fault_saved_rsp(%rip)\n"                                                                \
          "pushq fault_before + 136(%rip)\n popfq\n" FAULT_LOAD(rax, 0) FAULT_LOAD(rcx, 1)                   \
              FAULT_LOAD(rdx, 2) FAULT_LOAD(rbx, 3) FAULT_LOAD(rbp, 5) FAULT_LOAD(rsi, 6) FAULT_LOAD(rdi, 7) \
                  FAULT_LOAD(r8, 8) FAULT_LOAD(r9, 9) FAULT_LOAD(r10, 10) FAULT_LOAD(r11, 11)                \
                      FAULT_LOAD(r12, 12) FAULT_LOAD(r13, 13) FAULT_LOAD(r14, 14) FAULT_LOAD(r15, 15) text   \
          "resume_" #name                                                                                    \
          ":\n"                                                                                              \
          "mov fault_saved_rsp(%rip), %rsp\n cld\n"                                                          \
          "pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbp\n pop %rbx\n ret\n");                        \
  void stub_##name(void);                                                                                    \
  extern const char at_##name[], resume_##name[];                                                            \
  static const FaultStub fault_stub_##name = {stub_##name, at_##name, resume_##name};

static const int kFaultIndex[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                    REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
static const char* const kFaultNames[16] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                            "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};

static void fault_handler(int number, siginfo_t* info, void* context) {
  greg_t* registers = ((ucontext_t*)context)->uc_mcontext.gregs;
  fault.number = number;
  fault.code = info->si_code;
  fault.address = (uintptr_t)info->si_addr;
  fault.count++;
  for (int i = 0; i < 16; i++) fault.registers.gpr[i] = (uint64_t)registers[kFaultIndex[i]];
  fault.registers.rip = (uint64_t)registers[REG_RIP];
  fault.registers.flags = (uint64_t)registers[REG_EFL];
  fault.trap = (uint64_t)registers[REG_TRAPNO];
  fault.error = (uint64_t)registers[REG_ERR];
  if (fault_current) registers[REG_RIP] = (greg_t)fault_current->resume;
  registers[REG_EFL] &= ~0x40100;  // AC and TF, where a stub sets them
}

/// Installs the handler for all fault signals, on a stack of its own.
static inline void catch_faults(void) {
  static char stack[64 << 10];
  stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
  REQUIRE(sigaltstack(&alternate, NULL) == 0);
  struct sigaction action = {.sa_sigaction = fault_handler, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  static const int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
  for (int i = 0; i < 5; i++) REQUIRE(sigaction(kSignals[i], &action, NULL) == 0);
}

/// Known values in every register.
static inline void fault_set_registers(unsigned seed, uint64_t flags) {
  for (unsigned i = 0; i < 16; i++) fault_before.gpr[i] = 0x0101010101010101u * (i + 1) + seed;
  fault_before.flags = flags;
}

/// Runs a stub; afterwards `fault` tells what happened (count 0: no fault).
static inline void fault_run(const FaultStub* stub) {
  fault_current = stub;
  fault.count = 0;
  fault.number = 0;
  stub->run();
  fault_current = NULL;
}

/// The registers at the fault are those before it, except for those with a bit set in `changed`.
static inline void fault_expect_registers(const char* name, unsigned changed) {
  for (int i = 0; i < 16; i++) {
    if (i == 4 || changed >> i & 1) continue;
    if (fault.registers.gpr[i] != fault_before.gpr[i]) {
      guest_failures++;
      printf("FAILED %s: %s is 0x%llx, was 0x%llx\n", name, kFaultNames[i],
             (unsigned long long)fault.registers.gpr[i], (unsigned long long)fault_before.gpr[i]);
    }
  }
}
