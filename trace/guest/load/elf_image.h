// What the ELF headers of an executable say, checked so that nothing read from the file can lead the loader
// astray. Pure: works on bytes; no system calls. Source of facts: System V ABI (gABI) chapters 4 and 5,
// <linux/elf.h>.
#pragma once

#include "trace/guest/base/types.h"

namespace detrec::guest::load {

/// Program headers beyond this many bytes are refused, as the kernel does.
inline constexpr u64 kProgramHeaderBytes = 0x1'0000;

enum class ElfError {
  kNone,
  kNotElf,         ///< no ELF magic, or too short
  kOtherMachine,   ///< a well-formed header of another machine or of 32 bits
  kNotExecutable,  ///< a relocatable object or a core file
  kBroken,         ///< headers that contradict themselves or the file's size
  kNothingToLoad,  ///< no PT_LOAD
};

/// The fixed header, checked.
struct ElfHeader {
  bool position_independent;  ///< ET_DYN
  GuestAddr entry;
  u64 phoff;
  u32 phnum;
  u32 machine;  ///< e_machine, also when it is another one
  bool bits32;
};

/// Checks the first `n` bytes of a file.
ElfError parse_header(const u8* head, u64 n, ElfHeader& header);

/// "i386", "AArch64", ... for messages; nullptr for machines without a name here.
const char* machine_name(u32 machine, bool bits32);

struct Segment {
  GuestAddr vaddr;
  u64 file_offset;
  u64 file_bytes;
  u64 memory_bytes;
  u32 prot;  ///< PROT_*

  // In whole pages.
  GuestAddr begin() const { return page_down(vaddr); }
  GuestAddr file_end() const { return page_up(vaddr + file_bytes); }
  GuestAddr end() const { return page_up(vaddr + memory_bytes); }
};

struct ElfImage {
  static constexpr u32 kMaxSegments = 64;
  Segment segments[kMaxSegments];
  u32 segment_count;
  GuestAddr begin;  ///< of the first segment, whole pages
  GuestAddr end;    ///< of the highest one
  u64 align;        ///< largest p_align, at least a page
  GuestAddr
      phdr_address;  ///< where the program headers are once loaded (0: in no segment), before relocation
  u64 interpreter_offset;  ///< of the path in the file
  u64 interpreter_bytes;   ///< with its NUL; 0: none
  bool executable_stack;   ///< PT_GNU_STACK with PF_X

  bool has_code() const {
    for (u32 i = 0; i < segment_count; ++i)
      if ((segments[i].prot & 4) != 0) return true;
    return false;
  }
};

/// Checks the program headers: `phdrs` holds header.phnum entries. Afterwards: segments ascend and do not
/// overlap in memory beyond a shared page, all of them end below kUserEnd, offsets and addresses agree modulo
/// the page size, file parts lie in the file.
ElfError parse_program_headers(const ElfHeader& header, const u8* phdrs, u64 file_size, ElfImage& image);

/// True when `head` (the file's first `n` bytes) is that of an x86-64 shared library or executable whose
/// segments span exactly `length` bytes, rounded up to pages, and one of which is code: what a dynamic linker
/// maps first.
bool spans_code(const u8* head, u64 n, u64 length);

}  // namespace detrec::guest::load
