// What the opcode rows' flag and implicit-operand classes mean.
#pragma once

#include "trace/guest/decode/row.h"

namespace detrec::guest::tables {

struct FlagEffect {
  Fx fx;
  std::uint16_t read;
  std::uint16_t written;
  std::uint16_t undefined;
  std::uint16_t maybe;  ///< the part of written that may keep its value
};

inline constexpr std::uint16_t kC = kFlagCf, kP = kFlagPf, kA = kFlagAf, kZ = kFlagZf, kS = kFlagSf,
                               kO = kFlagOf, kDir = kFlagDf, kAll6 = kFlagsStatus, kAll7 = kFlagsAll;

// In the order of Fx (checked below).
inline constexpr FlagEffect kFlagEffects[] = {
    {Fx::kNone, 0, 0, 0, 0},
    {Fx::kAdd, 0, kAll6, 0, 0},
    {Fx::kAdc, kC, kAll6, 0, 0},
    {Fx::kLogic, 0, kAll6, kA, 0},
    {Fx::kIncDec, 0, kAll6 & ~kC, 0, 0},
    {Fx::kMul, 0, kAll6, kS | kZ | kA | kP, 0},
    {Fx::kDiv, 0, kAll6, kAll6, 0},
    {Fx::kShift, 0, kAll6, kO | kA, kAll6},
    {Fx::kRotate, 0, kC | kO, kO, kC | kO},
    {Fx::kRotateCarry, kC, kC | kO, kO, kC | kO},
    {Fx::kShiftDouble, 0, kAll6, kO | kA, kAll6},
    {Fx::kBt, 0, kAll6 & ~kZ, kO | kS | kA | kP, 0},
    {Fx::kBsf, 0, kAll6, kAll6 & ~kZ, 0},
    {Fx::kLzcnt, 0, kAll6, kO | kS | kA | kP, 0},
    {Fx::kPopcnt, 0, kAll6, 0, 0},
    {Fx::kCmc, kC, kC, 0, 0},
    {Fx::kCf, 0, kC, 0, 0},
    {Fx::kDf, 0, kDir, 0, 0},
    {Fx::kSahf, 0, kAll6 & ~kO, 0, 0},
    {Fx::kLahf, kAll6 & ~kO, 0, 0, 0},
    {Fx::kPushf, kAll7, 0, 0, 0},
    {Fx::kPopf, 0, kAll7, 0, 0},
    {Fx::kZf, 0, kZ, 0, 0},
    {Fx::kComis, 0, kAll6, 0, 0},
    {Fx::kAdcx, kC, kC, 0, 0},
    {Fx::kAdox, kO, kO, 0, 0},
    {Fx::kBextr, 0, kAll6, kA | kS | kP, 0},
    {Fx::kBls, 0, kAll6, kA | kP, 0},
    {Fx::kAndn, 0, kAll6, kA | kP, 0},
    {Fx::kBzhi, 0, kAll6, kA | kP, 0},
    {Fx::kZfRest0, 0, kAll6, 0, 0},
    {Fx::kCfRest0, 0, kAll6, 0, 0},
    {Fx::kString, kDir, 0, 0, 0},
    {Fx::kStringCmp, kDir, kAll6, 0, 0},
    {Fx::kReadZf, kZ, 0, 0, 0},
    {Fx::kFcmov, kC | kZ | kP, 0, 0, 0},
    {Fx::kReadDf, kDir, 0, 0, 0},
    {Fx::kTbm, 0, kAll6, kA | kP, 0},
    {Fx::kKeyLocker, 0, kAll6, 0, 0},
    {Fx::kSyscall, kAll7, kAll7, 0, kAll7},
    {Fx::kCc, 0, 0, 0, 0},
    {Fx::kFcmovB, kC, 0, 0, 0},
    {Fx::kFcmovE, kZ, 0, 0, 0},
    {Fx::kFcmovBe, kC | kZ, 0, 0, 0},
    {Fx::kFcmovU, kP, 0, 0, 0},
};

/// Flags that the condition codes read: o, b, z, be, s, p, l, le and their negations.
inline constexpr std::uint16_t kConditionFlags[8] = {kO, kC, kZ, kC | kZ, kS, kP, kS | kO, kZ | kS | kO};

/// Implicit memory operands.
enum class ImMem : std::uint8_t {
  kNone,
  kPush,
  kPop,
  kCall,
  kEnter,
  kLeave,
  kFarCall,
  kFarRet,
  kIret,
  kMovs,
  kCmps,
  kStos,
  kLods,
  kScas,
  kIns,
  kOuts,
  kXlat,
  kMaskMov,
  kMoffsLoad,
  kMoffsStore,
  kMonitor,
  kClzero,
  kMovdir64b,
  kEnqcmd,
  kUiret,
};

struct ImplicitEffect {
  Im im;
  std::uint16_t read;
  std::uint16_t written;
  ImMem mem;
};

inline constexpr std::uint16_t kAx = 1 << 0, kCx = 1 << 1, kDx = 1 << 2, kBx = 1 << 3, kSp = 1 << 4,
                               kBp = 1 << 5, kSi = 1 << 6, kDi = 1 << 7, kR8 = 1 << 8, kR11 = 1 << 11;

// In the order of Im (checked below). Accumulators whose width follows the operand size are adjusted by the
// decoder: an operand of 8 or 16 bits makes a written register a read one too.
inline constexpr ImplicitEffect kImplicitEffects[] = {
    {Im::kNone, 0, 0, ImMem::kNone},
    {Im::kPush, kSp, kSp, ImMem::kPush},
    {Im::kPop, kSp, kSp, ImMem::kPop},
    {Im::kPushF, kSp, kSp, ImMem::kPush},
    {Im::kCall, kSp, kSp, ImMem::kPush},
    {Im::kRet, kSp, kSp, ImMem::kPop},
    {Im::kEnter, kSp | kBp, kSp | kBp, ImMem::kEnter},
    {Im::kLeave, kBp, kSp | kBp, ImMem::kLeave},
    {Im::kFarCall, kSp, kSp, ImMem::kFarCall},
    {Im::kFarRet, kSp, kSp, ImMem::kFarRet},
    {Im::kIret, kSp, kSp, ImMem::kIret},
    {Im::kMovs, kSi | kDi, kSi | kDi, ImMem::kMovs},
    {Im::kCmps, kSi | kDi, kSi | kDi, ImMem::kCmps},
    {Im::kStos, kAx | kDi, kDi, ImMem::kStos},
    {Im::kLods, kSi, kSi | kAx, ImMem::kLods},
    {Im::kScas, kAx | kDi, kDi, ImMem::kScas},
    {Im::kIns, kDx | kDi, kDi, ImMem::kIns},
    {Im::kOuts, kDx | kSi, kSi, ImMem::kOuts},
    {Im::kXlat, kAx | kBx, kAx, ImMem::kXlat},
    {Im::kMaskMov, kDi, 0, ImMem::kMaskMov},
    {Im::kMoffsLoad, 0, kAx, ImMem::kMoffsLoad},
    {Im::kMoffsStore, kAx, 0, ImMem::kMoffsStore},
    {Im::kAccR8, kAx, 0, ImMem::kNone},
    {Im::kAccR, kAx, 0, ImMem::kNone},
    {Im::kAccRw8, kAx, kAx, ImMem::kNone},
    {Im::kAccRw, kAx, kAx, ImMem::kNone},
    {Im::kAccW8, kAx, kAx, ImMem::kNone},
    {Im::kAccW, 0, kAx, ImMem::kNone},
    {Im::kXchgAcc, kAx, kAx, ImMem::kNone},
    {Im::kMul8, kAx, kAx, ImMem::kNone},
    {Im::kMul, kAx, kAx | kDx, ImMem::kNone},
    {Im::kDiv8, kAx, kAx, ImMem::kNone},
    {Im::kDiv, kAx | kDx, kAx | kDx, ImMem::kNone},
    {Im::kCbw, kAx, kAx, ImMem::kNone},
    {Im::kCwd, kAx, kDx, ImMem::kNone},
    {Im::kClR, kCx, 0, ImMem::kNone},
    {Im::kLahf, kAx, kAx, ImMem::kNone},
    {Im::kSahf, kAx, 0, ImMem::kNone},
    {Im::kAxW, kAx, kAx, ImMem::kNone},
    {Im::kCmpxchg8, kAx, kAx, ImMem::kNone},
    {Im::kCmpxchg, kAx, kAx, ImMem::kNone},
    {Im::kCmpxchg8b, kAx | kDx | kBx | kCx, kAx | kDx, ImMem::kNone},
    {Im::kCpuid, kAx | kCx, kAx | kBx | kCx | kDx, ImMem::kNone},
    {Im::kRdtsc, 0, kAx | kDx, ImMem::kNone},
    {Im::kRdtscp, 0, kAx | kDx | kCx, ImMem::kNone},
    {Im::kRdpmc, kCx, kAx | kDx, ImMem::kNone},
    {Im::kXgetbv, kCx, kAx | kDx, ImMem::kNone},
    {Im::kXsave, kAx | kDx, 0, ImMem::kNone},
    {Im::kSyscall, 0, kCx | kR11, ImMem::kNone},
    {Im::kSysret, kCx | kR11, 0, ImMem::kNone},
    {Im::kLoop, kCx, kCx, ImMem::kNone},
    {Im::kJrcxz, kCx, 0, ImMem::kNone},
    {Im::kMulx, kDx, 0, ImMem::kNone},
    {Im::kUmwait, kAx | kDx, 0, ImMem::kNone},
    {Im::kUmonitor, 0, 0, ImMem::kNone},
    {Im::kMonitor, kAx | kCx | kDx, 0, ImMem::kMonitor},
    {Im::kMwait, kAx | kCx, 0, ImMem::kNone},
    {Im::kMonitorx, kAx | kCx | kDx, 0, ImMem::kMonitor},
    {Im::kMwaitx, kAx | kCx | kBx, 0, ImMem::kNone},
    {Im::kRdpkru, kCx, kAx | kDx, ImMem::kNone},
    {Im::kWrpkru, kAx | kCx | kDx, 0, ImMem::kNone},
    {Im::kRdmsr, kCx, kAx | kDx, ImMem::kNone},
    {Im::kWrmsr, kAx | kCx | kDx, 0, ImMem::kNone},
    {Im::kXsetbv, kAx | kCx | kDx, 0, ImMem::kNone},
    {Im::kInAl, kAx, kAx, ImMem::kNone},
    {Im::kIn, 0, kAx, ImMem::kNone},
    {Im::kOutAl, kAx, 0, ImMem::kNone},
    {Im::kOut, kAx, 0, ImMem::kNone},
    {Im::kInDxAl, kDx | kAx, kAx, ImMem::kNone},
    {Im::kInDx, kDx, kAx, ImMem::kNone},
    {Im::kOutDxAl, kDx | kAx, 0, ImMem::kNone},
    {Im::kOutDx, kDx | kAx, 0, ImMem::kNone},
    {Im::kClzero, kAx, 0, ImMem::kClzero},
    {Im::kMovdir64b, 0, 0, ImMem::kMovdir64b},
    {Im::kEnqcmd, 0, 0, ImMem::kEnqcmd},
    {Im::kStrRet, 0, 0, ImMem::kNone},
    {Im::kPcmpestri, kAx | kDx, kCx, ImMem::kNone},
    {Im::kPcmpistri, 0, kCx, ImMem::kNone},
    {Im::kPcmpestrm, kAx | kDx, 0, ImMem::kNone},
    {Im::kXabort, kAx, kAx, ImMem::kNone},
    {Im::kXbegin, kAx, kAx, ImMem::kNone},
    {Im::kRdpru, kCx, kAx | kDx, ImMem::kNone},
    {Im::kPtrAxR, kAx, 0, ImMem::kNone},
    {Im::kUiret, kSp, kSp, ImMem::kUiret},
    {Im::kVmload, kAx, 0, ImMem::kNone},
    {Im::kInvlpga, kAx | kCx, 0, ImMem::kNone},
    {Im::kInvlpgb, kAx | kCx | kDx, 0, ImMem::kNone},
    {Im::kSwapgs, 0, 0, ImMem::kNone},
    {Im::kEnclu, kAx | kBx | kCx | kDx, kBx | kCx | kDx, ImMem::kNone},
    {Im::kPconfig, kAx | kBx | kCx | kDx, kAx | kBx | kCx | kDx, ImMem::kNone},
    {Im::kRmp, kAx | kCx | kDx, kAx, ImMem::kNone},
    {Im::kPvalidate, kAx | kCx | kDx, kAx, ImMem::kNone},
    {Im::kPsmash, kAx, kAx, ImMem::kNone},
    {Im::kGetsec, kAx | kBx, kAx | kBx | kCx | kDx, ImMem::kNone},
    {Im::kVmfunc, kAx | kCx, 0, ImMem::kNone},
    {Im::kSysexit, kCx | kDx, kSp, ImMem::kNone},
    {Im::kTdcall, 0, 0, ImMem::kNone},
    {Im::kEncodeKey128, 0, 0, ImMem::kNone},
    {Im::kEncodeKey256, 0, 0, ImMem::kNone},
    {Im::kAesKlWide, 0, 0, ImMem::kNone},
    {Im::kSkinit, kAx, 0, ImMem::kNone},
};

constexpr bool effects_in_order() {
  if (sizeof(kFlagEffects) / sizeof(kFlagEffects[0]) != static_cast<std::size_t>(Fx::kCount)) return false;
  if (sizeof(kImplicitEffects) / sizeof(kImplicitEffects[0]) != static_cast<std::size_t>(Im::kCount))
    return false;
  for (std::size_t i = 0; i < static_cast<std::size_t>(Fx::kCount); ++i)
    if (static_cast<std::size_t>(kFlagEffects[i].fx) != i) return false;
  for (std::size_t i = 0; i < static_cast<std::size_t>(Im::kCount); ++i)
    if (static_cast<std::size_t>(kImplicitEffects[i].im) != i) return false;
  return true;
}
static_assert(effects_in_order());

}  // namespace detrec::guest::tables
