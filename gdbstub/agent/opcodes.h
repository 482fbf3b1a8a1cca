// The instructions of agent expressions; gdb manual, "Bytecode Descriptions". Operands are big endian.
#pragma once

#include <cstdint>

namespace detrec::gdbstub::agent {

enum class Opcode : std::uint8_t {
  kAdd = 0x02,
  kSub = 0x03,
  kMul = 0x04,
  kDivSigned = 0x05,
  kDivUnsigned = 0x06,
  kRemSigned = 0x07,
  kRemUnsigned = 0x08,
  kLsh = 0x09,
  kRshSigned = 0x0a,
  kRshUnsigned = 0x0b,
  kLogNot = 0x0e,
  kBitAnd = 0x0f,
  kBitOr = 0x10,
  kBitXor = 0x11,
  kBitNot = 0x12,
  kEqual = 0x13,
  kLessSigned = 0x14,
  kLessUnsigned = 0x15,
  kExt = 0x16,  ///< n: sign-extends from n bits
  kRef8 = 0x17,
  kRef16 = 0x18,
  kRef32 = 0x19,
  kRef64 = 0x1a,
  kIfGoto = 0x20,  ///< 16-bit offset from the expression's start
  kGoto = 0x21,    ///< likewise
  kConst8 = 0x22,  ///< zero-extended, as the other constants
  kConst16 = 0x23,
  kConst32 = 0x24,
  kConst64 = 0x25,
  kReg = 0x26,  ///< 16-bit register number
  kEnd = 0x27,
  kDup = 0x28,
  kPop = 0x29,
  kZeroExt = 0x2a,  ///< n: clears all but the low n bits
  kSwap = 0x2b,
  kPick = 0x32,  ///< n: copies the n-th value below the top
  kRot = 0x33
};

}  // namespace detrec::gdbstub::agent
