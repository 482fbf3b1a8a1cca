// What the opcode rows' flag and implicit-operand classes mean.
#pragma once

#include "trace/guest/decode/tables/row.h"

namespace detrec::guest::tables {

struct FlagEffect {
  Fx fx;
  std::uint16_t read;
  std::uint16_t written;
  std::uint16_t undefined;
  /// The part of written that may keep its value: by shifts and rotates whose count is 0, and undefined flags
  /// that processors leave alone (bt and div on Intel's do) or are not known to overwrite.
  std::uint16_t maybe;
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
    {Fx::kMul, 0, kAll6, kS | kZ | kA | kP, kS | kZ | kA | kP},
    {Fx::kDiv, 0, kAll6, kAll6, kAll6},
    {Fx::kShift, 0, kAll6, kO | kA, kAll6},
    {Fx::kRotate, 0, kC | kO, kO, kC | kO},
    {Fx::kRotateCarry, kC, kC | kO, kO, kC | kO},
    {Fx::kBt, 0, kAll6 & ~kZ, kO | kS | kA | kP, kO | kS | kA | kP},
    {Fx::kBsf, 0, kAll6, kAll6 & ~kZ, kAll6 & ~kZ},
    {Fx::kLzcnt, 0, kAll6, kO | kS | kA | kP, kO | kS | kA | kP},
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
    {Fx::kBextr, 0, kAll6, kA | kS | kP, kA | kS | kP},
    {Fx::kBls, 0, kAll6, kA | kP, kA | kP},
    {Fx::kAndn, 0, kAll6, kA | kP, kA | kP},
    {Fx::kBzhi, 0, kAll6, kA | kP, kA | kP},
    {Fx::kZfRest0, 0, kAll6, 0, 0},
    {Fx::kCfRest0, 0, kAll6, 0, 0},
    {Fx::kString, kDir, 0, 0, 0},
    {Fx::kStringCmp, kDir, kAll6, 0, 0},
    {Fx::kReadZf, kZ, 0, 0, 0},
    {Fx::kTbm, 0, kAll6, kA | kP, kA | kP},
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
  kEnter,
  kLeave,
  kFarCall,
  kFarRet,
  kIret,
  kUiret,
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
  kClzero,
  kDirectStore,
};

struct ImplicitEffect {
  Im im;
  std::uint16_t read;
  std::uint16_t written;
  std::uint16_t partial;  ///< of the written ones those that keep a part if the operand size is 8 or 16 bits
  ImMem mem;
};

inline constexpr std::uint16_t kAx = 1 << 0, kCx = 1 << 1, kDx = 1 << 2, kBx = 1 << 3, kSp = 1 << 4,
                               kBp = 1 << 5, kSi = 1 << 6, kDi = 1 << 7, kR11 = 1 << 11;

// In the order of Im (checked below).
inline constexpr ImplicitEffect kImplicitEffects[] = {
    {Im::kNone, 0, 0, 0, ImMem::kNone},
    {Im::kPush, kSp, kSp, 0, ImMem::kPush},
    {Im::kPop, kSp, kSp, 0, ImMem::kPop},
    {Im::kEnter, kSp | kBp, kSp | kBp, 0, ImMem::kEnter},
    {Im::kLeave, kBp, kSp | kBp, 0, ImMem::kLeave},
    {Im::kFarCall, kSp, kSp, 0, ImMem::kFarCall},
    {Im::kFarRet, kSp, kSp, 0, ImMem::kFarRet},
    {Im::kIret, kSp, kSp, 0, ImMem::kIret},
    {Im::kUiret, kSp, kSp, 0, ImMem::kUiret},
    {Im::kMovs, kSi | kDi, kSi | kDi, 0, ImMem::kMovs},
    {Im::kCmps, kSi | kDi, kSi | kDi, 0, ImMem::kCmps},
    {Im::kStos, kAx | kDi, kDi, 0, ImMem::kStos},
    {Im::kLods, kSi, kSi | kAx, kAx, ImMem::kLods},
    {Im::kScas, kAx | kDi, kDi, 0, ImMem::kScas},
    {Im::kIns, kDx | kDi, kDi, 0, ImMem::kIns},
    {Im::kOuts, kDx | kSi, kSi, 0, ImMem::kOuts},
    {Im::kXlat, kAx | kBx, kAx, 0, ImMem::kXlat},
    {Im::kMaskMov, kDi, 0, 0, ImMem::kMaskMov},
    {Im::kMoffsLoad, 0, kAx, kAx, ImMem::kMoffsLoad},
    {Im::kMoffsStore, kAx, 0, 0, ImMem::kMoffsStore},
    {Im::kClzero, kAx, 0, 0, ImMem::kClzero},
    {Im::kDirectStore, 0, 0, 0, ImMem::kDirectStore},
    {Im::kAccR, kAx, 0, 0, ImMem::kNone},
    {Im::kAccRw, kAx, kAx, 0, ImMem::kNone},
    {Im::kCxR, kCx, 0, 0, ImMem::kNone},
    {Im::kCxRw, kCx, kCx, 0, ImMem::kNone},
    {Im::kDxR, kDx, 0, 0, ImMem::kNone},
    {Im::kMul, kAx, kAx | kDx, kDx, ImMem::kNone},
    {Im::kDiv, kAx | kDx, kAx | kDx, 0, ImMem::kNone},
    {Im::kCwd, kAx, kDx, kDx, ImMem::kNone},
    {Im::kCmpxchg8b, kAx | kDx | kBx | kCx, kAx | kDx, 0, ImMem::kNone},
    {Im::kCpuid, kAx | kCx, kAx | kBx | kCx | kDx, 0, ImMem::kNone},
    {Im::kEnclu, kAx | kBx | kCx | kDx, kBx | kCx | kDx, 0, ImMem::kNone},
    {Im::kDxAxR, kAx | kDx, 0, 0, ImMem::kNone},
    {Im::kDxAxW, 0, kAx | kDx, 0, ImMem::kNone},
    {Im::kDxAxCxR, kAx | kCx | kDx, 0, 0, ImMem::kNone},
    {Im::kDxAxCxW, 0, kAx | kCx | kDx, 0, ImMem::kNone},
    {Im::kCxToDxAx, kCx, kAx | kDx, 0, ImMem::kNone},
    {Im::kMwaitx, kAx | kBx | kCx, 0, 0, ImMem::kNone},
    {Im::kSyscall, 0, kCx | kR11, 0, ImMem::kNone},
    {Im::kDxAxToCx, kAx | kDx, kCx, 0, ImMem::kNone},
    {Im::kCxW, 0, kCx, 0, ImMem::kNone},
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
