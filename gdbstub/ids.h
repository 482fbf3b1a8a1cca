// Identities and numbers of the stub that must not be confused with one another. Plain values, totally
// ordered.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

namespace detrec::gdbstub {

/// A number that cannot be confused with another kind of number.
template <class Tag, class Rep>
struct StrongId {
  Rep value{};
  friend constexpr auto operator<=>(const StrongId&, const StrongId&) = default;
};

using Address = StrongId<struct AddressTag, std::uint64_t>;       ///< in the guest's memory
using ProcessId = StrongId<struct ProcessTag, std::int32_t>;      ///< positive; as the guest saw it
using ThreadId = StrongId<struct ThreadTag, std::int32_t>;        ///< positive; as the guest saw it
using Signal = StrongId<struct SignalTag, std::int32_t>;          ///< Linux number, 1..64; 0 means none
using RegisterNumber = StrongId<struct RegTag, std::uint32_t>;    ///< position in target.xml
using FileHandle = StrongId<struct FileHandleTag, std::int32_t>;  ///< of FileAccess, not negative

/// One thread of one process: what `pP.T` names in the protocol.
struct ThreadRef {
  ProcessId process;
  ThreadId thread;
  friend constexpr auto operator<=>(const ThreadRef&, const ThreadRef&) = default;
};

/// [start, end): end is not part of it.
struct AddressRange {
  Address start;
  Address end;
  constexpr bool contains(Address address) const { return start <= address && address < end; }
  friend constexpr auto operator<=>(const AddressRange&, const AddressRange&) = default;
};

/// Linux numbers of the signals that the stub itself speaks of.
inline constexpr Signal kNoSignal{0};
inline constexpr Signal kSigInt{2};
inline constexpr Signal kSigTrap{5};

}  // namespace detrec::gdbstub
