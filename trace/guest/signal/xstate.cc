#include "trace/guest/signal/xstate.h"

#include "trace/guest/base/print.h"
#include "trace/guest/base/probe.h"
#include "trace/guest/base/string.h"
#include "trace/guest/run/cpu_model.h"
#include "trace/guest/translate/translator.h"

namespace detrec::guest::signal {
namespace {

constexpr u32 kMagic1 = 0x46505853, kMagic2 = 0x46505845;
constexpr u64 kLegacySize = 512, kHeaderSize = 64, kSoftwareBytes = 464;
constexpr u64 kX87Pointer = 8, kMxcsr = 24, kMxcsrMask = 28;
constexpr u64 kX87AndSse = 3;
constexpr u64 kBufferSize = 12 * 1024;

/// struct _fpx_sw_bytes
struct SoftwareBytes {
  u32 magic1;
  u32 extended_size;  ///< with the end marker
  u64 features;
  u32 size;  ///< without the end marker
  u32 padding[7];
};
static_assert(kSoftwareBytes + sizeof(SoftwareBytes) == kLegacySize);

struct Header {
  u64 in_use;  ///< XSTATE_BV
  u64 compaction;
  u64 reserved[6];
};
static_assert(sizeof(Header) == kHeaderSize);

struct Component {
  u32 offset;
  u32 size;
};

struct Xstate {
  bool extended = false;
  bool components_known = false;
  u64 features = kX87AndSse;
  u64 size = kLegacySize;
  u32 mxcsr_mask = 0xffbf;
  Component component[63] = {};
};
Xstate layout;

alignas(64) u8 buffer[kBufferSize];
/// All components in their initial state; only MXCSR's value is taken from here.
struct alignas(64) InitialImage {
  u8 byte[kLegacySize + kHeaderSize];
};
constexpr InitialImage make_initial_image() {
  InitialImage image{};
  image.byte[0] = 0x7f, image.byte[1] = 0x03;                // FCW 0x37f, for FXRSTOR
  image.byte[kMxcsr] = 0x80, image.byte[kMxcsr + 1] = 0x1f;  // MXCSR 0x1f80
  return image;
}
constexpr InitialImage kInitialImage = make_initial_image();

template <class T>
T load(const u8* from) {
  T value;
  __builtin_memcpy(&value, from, sizeof value);  // inline even when freestanding
  return value;
}
template <class T>
void store(u8* to, const T& value) {
  __builtin_memcpy(to, &value, sizeof value);
}

void xsave(u8* to, u64 features) {
  asm volatile("xsave64 (%0)"
               :
               : "r"(to), "a"(static_cast<u32>(features)), "d"(static_cast<u32>(features >> 32))
               : "memory");
}
void xrstor(const u8* from, u64 features) {
  asm volatile("xrstor64 (%0)"
               :
               : "r"(from), "a"(static_cast<u32>(features)), "d"(static_cast<u32>(features >> 32))
               : "memory");
}
void fxsave(u8* to) { asm volatile("fxsave64 (%0)" : : "r"(to) : "memory"); }
void fxrstor(const u8* from) { asm volatile("fxrstor64 (%0)" : : "r"(from) : "memory"); }

/// Keeps what the guest's model has, and asks the CPU where that lies. Done once, at the first frame: cpuid
/// is slow in virtual machines.
void find_components() {
  if (!layout.extended || layout.components_known) return;
  layout.components_known = true;
  layout.features &= run::guest_xcr0();
  u64 end = kLegacySize + kHeaderSize;
  for (u32 i = 2; i < 63; ++i) {
    if (!(layout.features & (u64{1} << i))) continue;
    u32 eax = 0xd, ebx, ecx = i, edx;
    asm volatile("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
    DETREC_CHECK(u64{ebx} + eax <= layout.size && eax % 8 == 0);
    layout.component[i] = {ebx, eax};
    if (u64{ebx} + eax > end) end = u64{ebx} + eax;
  }
  layout.size = end;
}

bool all_zero(const u8* from, u64 n) {
  u64 any = 0;
  for (u64 i = 0; i < n; i += 8) any |= load<u64>(from + i);
  return any == 0;
}

/// The CPU's own in-use bits tell how the kernel switched tasks; these tell only what the values are.
u64 in_use_by_value(const u8* image) {
  u64 in_use = kX87AndSse;  // as the kernel's frames have it
  for (int i = 2; i < 63; ++i) {
    const Component& c = layout.component[i];
    if (c.size != 0 && !all_zero(image + c.offset, c.size)) in_use |= u64{1} << i;
  }
  return in_use;
}

/// The address of the last x87 instruction is one of the code cache.
void show_guest_x87_pointer(u8* image) {
  u64 at = load<u64>(image + kX87Pointer);
  if (!translate::in_cache(at)) return;
  translate::CachePosition position;
  store(image + kX87Pointer, translate::locate(at, position) ? position.pc : u64{0});
}

/// What the kernel takes from a frame's vector state.
struct Request {
  u64 features;
  u64 size;
  bool extended;
};

/// Finds out how much of the frame's image is to be restored; anything odd means its legacy region only.
/// False when it is unreadable.
bool examine(GuestAddr fpstate, Request& request) {
  request = {kX87AndSse, kLegacySize, false};
  if (!layout.extended) return true;
  SoftwareBytes bytes;
  if (!read_guest(bytes, fpstate + kSoftwareBytes)) return false;
  if (bytes.magic1 != kMagic1 || bytes.size < kLegacySize + kHeaderSize || bytes.size > layout.size ||
      bytes.size > bytes.extended_size) {
    return true;
  }
  u32 magic2;
  if (!read_guest(magic2, fpstate + bytes.size)) return false;
  if (magic2 == kMagic2) request = {bytes.features & layout.features, bytes.size, true};
  return true;
}

/// Whether the CPU would load the image in `buffer` without a fault.
bool loadable(const Request& request) {
  if (load<u32>(buffer + kMxcsr) & ~layout.mxcsr_mask) return false;
  if (!request.extended) return true;
  auto header = load<Header>(buffer + kLegacySize);
  if (header.in_use & ~layout.features) return false;
  u64 rest = header.compaction;
  for (u64 r : header.reserved) rest |= r;
  if (rest != 0) return false;
  // A short image must not make the CPU read what lies behind it.
  for (int i = 2; i < 63; ++i) {
    const Component& c = layout.component[i];
    if ((request.features & header.in_use & (u64{1} << i)) && u64{c.offset} + c.size > request.size)
      return false;
  }
  return true;
}

}  // namespace

void learn_xstate(const u8* fpstate, bool extended) {
  auto bytes = load<SoftwareBytes>(fpstate + kSoftwareBytes);
  u32 mask = load<u32>(fpstate + kMxcsrMask);
  if (mask != 0) layout.mxcsr_mask = mask;
  layout.extended = extended && bytes.magic1 == kMagic1;
  if (!layout.extended) return;
  layout.features = bytes.features;
  layout.size = bytes.size;
  if (layout.size + sizeof kMagic2 > kBufferSize)
    DETREC_PANIC("the vector state of %lu bytes is larger than expected", layout.size);
}

bool xstate_is_extended() { return layout.extended; }

u64 xstate_frame_size() {
  find_components();
  return layout.extended ? layout.size + sizeof kMagic2 : kLegacySize;
}

const u8* save_xstate() {
  if (!layout.extended) {
    fxsave(buffer);
    show_guest_x87_pointer(buffer);
    return buffer;
  }
  find_components();
  memset(buffer + kSoftwareBytes, 0, sizeof(SoftwareBytes) + kHeaderSize);
  xsave(buffer, layout.features);
  show_guest_x87_pointer(buffer);
  store(buffer + kLegacySize, in_use_by_value(buffer));
  SoftwareBytes bytes{};
  bytes.magic1 = kMagic1;
  bytes.size = static_cast<u32>(layout.size);
  bytes.extended_size = static_cast<u32>(layout.size + sizeof kMagic2);
  bytes.features = layout.features;
  store(buffer + kSoftwareBytes, bytes);
  store(buffer + layout.size, kMagic2);
  return buffer;
}

void reset_xstate() {
  find_components();
  if (layout.extended) {
    xrstor(kInitialImage.byte, layout.features);
  } else {
    fxrstor(kInitialImage.byte);
  }
}

bool restore_xstate(GuestAddr fpstate) {
  if (fpstate == 0) {
    reset_xstate();
    return true;
  }
  find_components();
  Request request;
  if (!examine(fpstate, request) || (fpstate & (request.extended ? 63 : 15)) != 0) return false;
  if (!read_guest(buffer, fpstate, request.size) || !loadable(request)) return false;
  if (request.extended) {
    xrstor(buffer, request.features);
  } else {
    fxrstor(buffer);
  }
  if (u64 rest = layout.features & ~request.features; layout.extended && rest != 0)
    xrstor(kInitialImage.byte, rest);
  return true;
}

}  // namespace detrec::guest::signal
