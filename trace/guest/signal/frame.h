// The signal frame of x86-64 as data: its layout and its place on the stack. No guest memory is touched here.
//
// Sources: arch/x86/include/uapi/asm/{sigcontext,ucontext}.h, arch/x86/kernel/signal{,_64}.c, signal(7),
// sigaltstack(2), System V ABI 3.2.2 (red zone). Tests compare the layout with <ucontext.h>.
#pragma once

#include "trace/guest/signal/altstack.h"
#include "trace/guest/translate/context.h"

namespace detrec::guest::signal {

/// struct sigcontext
struct MachineContext {
  u64 r8, r9, r10, r11, r12, r13, r14, r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip, rflags;
  u16 cs, gs, fs, ss;
  u64 error, trapno, oldmask, cr2;
  u64 fpstate;  ///< address of the vector state, 0 for none
  u64 reserved[8];
};

/// struct ucontext
struct UserContext {
  u64 flags;
  u64 link;
  AltStack stack;
  MachineContext machine;
  u64 sigmask;
};

/// struct rt_sigframe; the vector state lies above it.
struct SignalFrame {
  GuestAddr return_address;  ///< sa_restorer
  UserContext context;
  SignalInfo info;
};
static_assert(sizeof(MachineContext) == 256 && sizeof(UserContext) == 304 && sizeof(SignalFrame) == 440);

/// uc_flags: the vector state is an XSAVE image; ss is valid; sigreturn restores it.
inline constexpr u64 kUcFpXstate = 1, kUcSigcontextSs = 2, kUcStrictRestoreSs = 4;
inline constexpr u16 kUserCs = 0x33, kUserSs = 0x2b;

inline constexpr u64 kFlagTrap = 0x100, kFlagDirection = 0x400, kFlagResume = 0x1'0000;
/// What sigreturn takes from the frame: AC OF DF TF SF ZF AF PF CF RF.
inline constexpr u64 kRestorableFlags =
    0x4'0000 | 0x800 | 0x400 | 0x100 | 0x80 | 0x40 | 0x10 | 0x4 | 0x1 | 0x1'0000;

/// General registers out of and into a frame; gpr is in Reg order.
void get_registers(const MachineContext& machine, u64 gpr[16]);
void set_registers(MachineContext& machine, const u64 gpr[16]);

/// Where a frame goes. `fpstate_size` is that of the whole vector state, with its end marker.
struct FramePlace {
  GuestAddr frame;
  GuestAddr fpstate;
};
/// False when the frame would overflow the alternate stack.
bool place_frame(u64 sp, u64 sa_flags, const AltStack& stack, u64 fpstate_size, FramePlace& place);

}  // namespace detrec::guest::signal
