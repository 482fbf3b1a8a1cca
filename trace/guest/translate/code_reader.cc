#include "trace/guest/translate/code_reader.h"

#include "trace/guest/base/probe.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/decode/plain.h"
#include "trace/guest/memory/guest_map.h"

namespace detrec::guest::translate {
namespace {

constexpr int kProtWrite = 2, kProtExec = 4;
constexpr int kSigIll = 4, kSigBus = 7, kSigSegv = 11;
constexpr int kSegvMapErr = 1, kSegvAccErr = 2, kBusAdrErr = 2, kIllIllOpn = 2;
constexpr u64 kTrapInvalidOpcode = 6, kTrapGeneralProtection = 13, kTrapPageFault = 14;
constexpr u64 kErrorUserFetch = 0x14;  // user mode, instruction fetch; +1 when the page is present

constexpr u32 kFlagsOfDec = kFlagPf | kFlagAf | kFlagZf | kFlagSf | kFlagOf;
constexpr int kLookAhead = 12;

/// Whether the page has been touched, which the kernel's error code tells too.
bool is_present(GuestAddr address) {
  u8 present = 0;
  SysResult r = raw_syscall(__NR_mincore, page_down(address), kPageSize, arg(&present));
  return !failed(r) && (present & 1) != 0;
}

FetchFault missing_page(GuestAddr address) {
  FetchFault f;
  int prot = memory::protection(address);
  f.address = address;
  f.trapno = kTrapPageFault;
  if (address >= 0xffff'8000'0000'0000ull) {  // the kernel's half: Linux calls all of it present
    f.signo = kSigSegv;
    f.code = kSegvMapErr;
    f.error = kErrorUserFetch | 1;
  } else if (address >= 0x8000'0000'0000ull) {  // not canonical: #GP, without an address
    f = {kSigSegv, 0x80 /* SI_KERNEL */, 0, kTrapGeneralProtection, 0};
  } else if (prot >= 0 &&
             (prot & kProtExec) != 0) {  // mapped and executable, yet unreadable: beyond the file's end
    f.signo = kSigBus;
    f.code = kBusAdrErr;
    f.error = kErrorUserFetch;
  } else {
    f.signo = kSigSegv;
    f.code = prot < 0 ? kSegvMapErr : kSegvAccErr;
    f.error = kErrorUserFetch | (prot >= 0 && is_present(address) ? 1 : 0);
  }
  return f;
}

}  // namespace

void CodeReader::refill(GuestAddr pc) {
  begin_ = pc;
  size_ = 0;
  while (size_ < limit_) {
    GuestAddr at = begin_ + size_;
    if (at < begin_) return;
    int prot = memory::protection(at);
    if (prot < 0 || (prot & kProtExec) == 0) return;
    u64 room = page_down(at) + kPageSize - at;
    u64 want = room < limit_ - size_ ? room : limit_ - size_;
    u64 left = probe_copy(window_ + size_, reinterpret_cast<const void*>(at), want);
    size_ += want - left;
    if (left != 0) return;
  }
}

bool CodeReader::decode_at(GuestAddr pc, Insn& insn, FetchFault& fault) {
  if (!holds(pc)) refill(pc);
  u64 avail = begin_ + size_ - pc;
  switch (decode(bytes_at(pc), avail, insn)) {
    case DecodeStatus::kOk:
      return true;
    case DecodeStatus::kTruncated:
      fault = missing_page(pc + avail);
      return false;
    case DecodeStatus::kInvalid:
      fault = {kSigIll, kIllIllOpn, pc, kTrapInvalidOpcode, 0};
      return false;
    case DecodeStatus::kTooLong:
      fault = {kSigSegv, 0x80, 0, kTrapGeneralProtection, 0};
      return false;
  }
  return false;
}

namespace {

/// A program may overwrite the code of this page while it runs there.
bool may_overwrite_itself(GuestAddr page) {
  int prot = memory::protection(page);
  GuestAddr alias;
  return (prot & kProtWrite) != 0 || memory::writable_aliases(page, &alias, 1) != 0;
}

/// Of kFlagsOfDec, those surely overwritten before they are read from pc on. The site of a tick (`read` is
/// given) must be able to rely on it.
u32 dead_flags(CodeReader* near, GuestAddr pc, GuestAddr site_page, CodeRead* read) {
  constexpr u64 kSmallWindow = 64;
  CodeReader own(pc, kSmallWindow);
  u32 dead = 0, live = 0;
  bool check_stable = read != nullptr;
  bool changing = check_stable && may_overwrite_itself(site_page);
  GuestAddr stable_page = ~GuestAddr{0};
  for (int i = 0; i < kLookAhead && (dead | live) != kFlagsOfDec; ++i) {
    if (check_stable && page_down(pc) != site_page && page_down(pc) != stable_page) {
      const memory::Mapping* m = memory::find(pc);
      if (m == nullptr || (m->prot & kProtWrite) != 0 || m->inode == 0) break;
      stable_page = page_down(pc);
    }
    CodeReader& reader = near != nullptr && near->holds(pc) ? *near : own;
    PlainInsn plain;
    if (!changing && reader.ready(pc) && decode_plain(reader.bytes_at(pc), plain) &&
        plain.flags != PlainFlags::kAsk) {
      if (check_stable) read->note(pc, reader.bytes_at(pc), plain.length);
      if (plain.flags == PlainFlags::kWritten) dead |= kFlagsOfDec & ~live;
      pc += plain.length;
      continue;
    }
    Insn insn;
    FetchFault fault;
    if (!reader.decode_at(pc, insn, fault)) break;
    if (check_stable) read->note(pc, reader.bytes_at(pc), insn.length);
    live |= insn.flags_read & kFlagsOfDec & ~dead;
    if (insn.special != Special::kNone) break;
    dead |= insn.flags_must_written & kFlagsOfDec & ~live;
    if (changing && writes_memory(insn)) break;  // perhaps the very code that comes next
    switch (insn.branch) {
      case Branch::kNone:
        pc += insn.length;
        break;
      case Branch::kJmpRel:
      case Branch::kCallRel:
        pc = branch_target(insn, pc);
        break;
      default:
        return dead;
    }
  }
  return dead;
}

}  // namespace

bool status_flags_dead(CodeReader& near, GuestAddr pc, GuestAddr site_page, CodeRead& read) {
  read.begin();
  bool dead = dead_flags(&near, pc, page_down(site_page), &read) == kFlagsOfDec;
  if (dead) read.keep();
  return dead;
}

u32 dead_status_flags(GuestAddr pc) { return dead_flags(nullptr, pc, 0, nullptr); }

bool is_steady_code(GuestAddr address) {
  const memory::Mapping* m = memory::find(address);
  GuestAddr alias;
  return m != nullptr && m->inode != 0 && (m->prot & (kProtWrite | kProtExec)) == kProtExec &&
         memory::writable_aliases(page_down(address), &alias, 1) == 0;
}

}  // namespace detrec::guest::translate
