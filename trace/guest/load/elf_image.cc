#include "trace/guest/load/elf_image.h"

#include <linux/elf.h>

#include "trace/guest/base/layout.h"
#include "trace/guest/base/string.h"

namespace detrec::guest::load {
namespace {

static_assert(sizeof(Elf64_Phdr) == 56 && sizeof(Elf64_Ehdr) == 64);

constexpr u32 kProtRead = 1, kProtWrite = 2, kProtExec = 4;
constexpr u64 kLongestPath = 4096;

u32 protection_of(u32 flags) {
  return ((flags & PF_R) != 0 ? kProtRead : 0) | ((flags & PF_W) != 0 ? kProtWrite : 0) |
         ((flags & PF_X) != 0 ? kProtExec : 0);
}

bool inside(u64 offset, u64 bytes, u64 size) { return offset <= size && bytes <= size - offset; }

ElfError add_segment(const Elf64_Phdr& p, u64 file_size, ElfImage& image) {
  if (p.p_memsz == 0) return ElfError::kNone;
  if (p.p_filesz > p.p_memsz || p.p_vaddr >= kUserEnd || p.p_memsz > kUserEnd - p.p_vaddr)
    return ElfError::kBroken;
  if (p.p_filesz != 0) {
    if (p.p_vaddr % kPageSize != p.p_offset % kPageSize || !inside(p.p_offset, p.p_filesz, file_size))
      return ElfError::kBroken;
  }
  if (image.segment_count == ElfImage::kMaxSegments) return ElfError::kBroken;
  Segment s{p.p_vaddr, p.p_offset, p.p_filesz, p.p_memsz, protection_of(p.p_flags)};
  if (image.segment_count > 0) {
    const Segment& last = image.segments[image.segment_count - 1];
    if (s.vaddr < last.vaddr + last.memory_bytes) return ElfError::kBroken;
  }
  image.segments[image.segment_count++] = s;
  if (p.p_align > image.align && (p.p_align & (p.p_align - 1)) == 0) image.align = p.p_align;
  return ElfError::kNone;
}

}  // namespace

ElfError parse_header(const u8* head, u64 n, ElfHeader& header) {
  header = {};
  if (n < 20 || memcmp(head, ELFMAG, SELFMAG) != 0) return ElfError::kNotElf;
  Elf64_Half type, machine;
  memcpy(&type, head + 16, sizeof type);
  memcpy(&machine, head + 18, sizeof machine);
  header.machine = machine;
  header.bits32 = head[EI_CLASS] == ELFCLASS32;
  if (head[EI_DATA] == ELFDATA2MSB) {
    header.machine = static_cast<u32>((machine >> 8) | ((machine & 0xff) << 8));
    return ElfError::kOtherMachine;
  }
  if (header.bits32 || machine != EM_X86_64) return ElfError::kOtherMachine;
  if (n < sizeof(Elf64_Ehdr) || head[EI_CLASS] != ELFCLASS64 || head[EI_DATA] != ELFDATA2LSB)
    return ElfError::kBroken;
  Elf64_Ehdr e;
  memcpy(&e, head, sizeof e);
  if (e.e_type != ET_EXEC && e.e_type != ET_DYN) return ElfError::kNotExecutable;
  if (e.e_phentsize != sizeof(Elf64_Phdr) || e.e_phnum == 0 ||
      e.e_phnum * sizeof(Elf64_Phdr) > kProgramHeaderBytes)
    return ElfError::kBroken;
  header.position_independent = e.e_type == ET_DYN;
  header.entry = e.e_entry;
  header.phoff = e.e_phoff;
  header.phnum = e.e_phnum;
  return ElfError::kNone;
}

const char* machine_name(u32 machine, bool bits32) {
  switch (machine) {
    case EM_386:
      return "i386";
    case EM_X86_64:
      return bits32 ? "x32" : "x86-64";
    case EM_AARCH64:
      return "AArch64";
    case EM_ARM:
      return "ARM";
    case EM_PPC:
      return "PowerPC";
    case EM_PPC64:
      return "PowerPC 64";
    case EM_S390:
      return "S/390";
    case EM_MIPS:
      return "MIPS";
    case EM_SPARC:
      return "SPARC";
    case EM_SPARCV9:
      return "SPARC V9";
    case EM_68K:
      return "m68k";
    case EM_RISCV:
      return "RISC-V";
    case EM_LOONGARCH:
      return "LoongArch";
    case EM_IA_64:
      return "IA-64";
    case EM_ALPHA:
      return "Alpha";
    case EM_PARISC:
      return "PA-RISC";
    case EM_SH:
      return "SuperH";
    default:
      return nullptr;
  }
}

ElfError parse_program_headers(const ElfHeader& header, const u8* phdrs, u64 file_size, ElfImage& image) {
  image.segment_count = 0;
  image.align = kPageSize;
  image.phdr_address = 0;
  image.interpreter_offset = image.interpreter_bytes = 0;
  image.executable_stack = false;
  for (u32 i = 0; i < header.phnum; ++i) {
    Elf64_Phdr p;
    memcpy(&p, phdrs + i * sizeof p, sizeof p);
    switch (p.p_type) {
      case PT_LOAD:
        if (ElfError error = add_segment(p, file_size, image); error != ElfError::kNone) return error;
        break;
      case PT_INTERP:
        if (image.interpreter_bytes != 0) break;  // the kernel takes the first
        if (p.p_filesz < 2 || p.p_filesz > kLongestPath || !inside(p.p_offset, p.p_filesz, file_size))
          return ElfError::kBroken;
        image.interpreter_offset = p.p_offset;
        image.interpreter_bytes = p.p_filesz;
        break;
      case PT_GNU_STACK:
        image.executable_stack = (p.p_flags & PF_X) != 0;
        break;
      default:
        break;
    }
  }
  if (image.segment_count == 0) return ElfError::kNothingToLoad;
  image.begin = image.segments[0].begin();
  image.end = image.segments[image.segment_count - 1].end();
  if (image.end > kUserEnd || image.align > (1ull << 40)) return ElfError::kBroken;
  for (u32 i = 0; i < image.segment_count; ++i) {
    const Segment& s = image.segments[i];
    if (header.phoff >= s.file_offset && header.phoff - s.file_offset < s.file_bytes) {
      image.phdr_address = s.vaddr + (header.phoff - s.file_offset);
      break;
    }
  }
  return ElfError::kNone;
}

bool spans_code(const u8* head, u64 n, u64 length) {
  ElfHeader header;
  if (parse_header(head, n, header) != ElfError::kNone) return false;
  if (!inside(header.phoff, header.phnum * sizeof(Elf64_Phdr), n)) return false;
  GuestAddr low = ~0ull, high = 0;
  bool code = false;
  for (u32 i = 0; i < header.phnum; ++i) {
    Elf64_Phdr p;
    memcpy(&p, head + header.phoff + i * sizeof p, sizeof p);
    if (p.p_type != PT_LOAD) continue;
    if (p.p_vaddr >= kUserEnd || p.p_memsz > kUserEnd - p.p_vaddr) return false;
    if (page_down(p.p_vaddr) < low) low = page_down(p.p_vaddr);
    if (p.p_vaddr + p.p_memsz > high) high = p.p_vaddr + p.p_memsz;
    code = code || (p.p_flags & PF_X) != 0;
  }
  return code && high > low && page_up(high - low) == page_up(length);
}

}  // namespace detrec::guest::load
