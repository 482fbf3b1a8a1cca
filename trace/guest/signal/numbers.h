// Signal numbers, flags and default actions, as the x86-64 kernel has them
// (include/uapi/asm-generic/signal.h, arch/x86/include/uapi/asm/signal.h, signal(7)). Freestanding; tests
// compare them with <signal.h>.
#pragma once

#include "trace/guest/base/types.h"

namespace detrec::guest::signal {

inline constexpr int kSigHup = 1, kSigInt = 2, kSigQuit = 3, kSigIll = 4, kSigTrap = 5, kSigAbrt = 6,
                     kSigBus = 7, kSigFpe = 8, kSigKill = 9, kSigSegv = 11, kSigPipe = 13, kSigChld = 17,
                     kSigCont = 18, kSigStop = 19, kSigTstp = 20, kSigTtin = 21, kSigTtou = 22, kSigUrg = 23,
                     kSigXcpu = 24, kSigXfsz = 25, kSigWinch = 28, kSigSys = 31;
inline constexpr int kFirstRealtime = 32;
inline constexpr int kSignals = 64;

/// Sets of signals: bit signo-1.
using SignalSet = u64;
constexpr SignalSet bit(int signo) { return SignalSet{1} << (signo - 1); }
constexpr bool valid(int signo) { return signo >= 1 && signo <= kSignals; }

/// Faults. Never blocked in the kernel while the engine runs, because the engine itself lives on them.
inline constexpr SignalSet kFaults =
    bit(kSigIll) | bit(kSigTrap) | bit(kSigBus) | bit(kSigFpe) | bit(kSigSegv);
/// What the kernel delivers before all others (SYNCHRONOUS_MASK in kernel/signal.c).
inline constexpr SignalSet kFirst = kFaults | bit(kSigSys);
inline constexpr SignalSet kUnblockable = bit(kSigKill) | bit(kSigStop);

enum class DefaultAction : u8 { kTerminate, kCore, kIgnore, kStop };

constexpr DefaultAction default_action(int signo) {
  constexpr SignalSet kCore = kFirst | bit(kSigQuit) | bit(kSigAbrt) | bit(kSigXcpu) | bit(kSigXfsz);
  constexpr SignalSet kIgnore = bit(kSigChld) | bit(kSigCont) | bit(kSigUrg) | bit(kSigWinch);
  constexpr SignalSet kStop = bit(kSigStop) | bit(kSigTstp) | bit(kSigTtin) | bit(kSigTtou);
  if (kCore & bit(signo)) return DefaultAction::kCore;
  if (kIgnore & bit(signo)) return DefaultAction::kIgnore;
  if (kStop & bit(signo)) return DefaultAction::kStop;
  return DefaultAction::kTerminate;
}

/// Handler values.
inline constexpr u64 kDefault = 0, kIgnored = 1;

/// sa_flags.
inline constexpr u64 kSaNoCldStop = 1, kSaNoCldWait = 2, kSaSigInfo = 4, kSaExposeTagBits = 0x800,
                     kSaRestorer = 0x0400'0000, kSaOnStack = 0x0800'0000, kSaRestart = 0x1000'0000,
                     kSaNoDefer = 0x4000'0000, kSaResetHand = 0x8000'0000;
/// The bits that sigaction(2) keeps; others read back as 0.
inline constexpr u64 kSaKnown = kSaNoCldStop | kSaNoCldWait | kSaSigInfo | kSaExposeTagBits | kSaRestorer |
                                kSaOnStack | kSaRestart | kSaNoDefer | kSaResetHand;

/// sigprocmask's `how`.
inline constexpr int kBlock = 0, kUnblock = 1, kSetMask = 2;

/// stack_t's flags.
inline constexpr u32 kSsOnStack = 1, kSsDisable = 2, kSsAutoDisarm = 0x8000'0000;
inline constexpr u64 kMinSigStackSize = 2048;

/// si_code: values of 0 and below come from kill and its kin, above from the kernel.
inline constexpr i32 kSiUser = 0, kSiKernel = 0x80, kSiTkill = -6;

/// errno values used here.
inline constexpr SysResult kEPerm = -1, kEIntr = -4, kEAgain = -11, kENoMem = -12, kEFault = -14,
                           kEInval = -22;

}  // namespace detrec::guest::signal
