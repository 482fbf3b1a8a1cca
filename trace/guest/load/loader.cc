#include "trace/guest/load/loader.h"

#include <asm/errno.h>
#include <linux/auxvec.h>
#include <linux/fcntl.h>
#include <linux/mman.h>
#include <linux/prctl.h>

#include "trace/guest/base/arena.h"
#include "trace/guest/base/print.h"
#include "trace/guest/base/string.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/load/image_file.h"
#include "trace/guest/load/initial_stack.h"
#include "trace/guest/load/loaded_program.h"
#include "trace/guest/memory/guest_map.h"
#include "trace/guest/memory/guest_memory.h"
#include "trace/guest/translate/context.h"

namespace detrec::guest::load {
namespace {

/// The kernel gives a new stack this much beyond what the strings take.
constexpr u64 kStackExpand = 128 * 1024;

/// HWCAP2_RING3MWAIT and HWCAP2_FSGSBASE: the cpu model has neither.
constexpr u64 kHiddenHwcap2 = 0x3;

bool fail(LoadFailure& failure, int status, const char* path, const char* what) {
  failure.status = status;
  format(failure.message, sizeof failure.message, "cannot run %s: %s", path, what);
  return false;
}

bool fail_mapping(LoadFailure& failure, const char* path, GuestAddr begin, GuestAddr end, SysResult error) {
  failure.status = 126;
  if (error == -EEXIST || error == -ENOMEM) {
    format(failure.message, sizeof failure.message, "cannot run %s: no room for it at addresses %lx-%lx",
           path, begin, end);
  } else if (error == -EPERM) {
    format(failure.message, sizeof failure.message,
           "cannot run %s: its addresses %lx-%lx or its file system do not allow it", path, begin, end);
  } else {
    format(failure.message, sizeof failure.message, "cannot run %s: mapping %lx-%lx failed with error %ld",
           path, begin, end, -error);
  }
  return false;
}

bool zero_fill(Turn& turn, GuestAddr begin, GuestAddr end) {
  static constexpr u8 kZeros[512] = {};
  while (begin < end) {
    u64 n = end - begin < sizeof kZeros ? end - begin : sizeof kZeros;
    if (!memory::write_guest(turn, begin, kZeros, n)) return false;
    begin += n;
  }
  return true;
}

/// Maps one segment. `mapped_end`: how far earlier segments of this image reach; `reserved`: the place is
/// ours already.
SysResult map_segment(Turn& turn, const ImageFile& file, const Segment& s, GuestAddr bias,
                      GuestAddr mapped_end, bool reserved) {
  GuestAddr begin = s.begin() + bias, file_end = s.file_end() + bias, end = s.end() + bias;
  u32 fixed = reserved || begin < mapped_end ? MAP_FIXED : MAP_FIXED_NOREPLACE;
  if (s.file_bytes != 0) {
    SysResult r = memory::map_image(turn, begin, file_end - begin, s.prot, MAP_PRIVATE | fixed, file.fd,
                                    page_down(s.file_offset), true, nullptr);
    if (failed(r)) return r;
  } else {
    file_end = begin < mapped_end ? mapped_end : begin;
  }
  if (s.memory_bytes > s.file_bytes) {
    GuestAddr bss = s.vaddr + bias + s.file_bytes;
    // ld.so allocates from the tail of its last page, so all of it must be zero. A page that is not writable
    // stays as the file has it, as with the kernel.
    if ((s.prot & PROT_WRITE) != 0 && bss < file_end && !zero_fill(turn, bss, file_end)) return -EFAULT;
  }
  if (end > file_end) {
    SysResult r = memory::map_image(turn, file_end, end - file_end, s.prot | PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | fixed, -1, 0, true, nullptr);
    if (failed(r)) return r;
  }
  return 0;
}

/// Maps an image; `bias` is what its addresses are moved by.
bool map_file(Turn& turn, const ImageFile& file, const char* path, bool program, GuestAddr& bias,
              LoadFailure& failure) {
  const ElfImage& image = file.image;
  bias = 0;
  if (file.header.position_independent) {
    u64 bytes = image.end - image.begin;
    SysResult r = memory::reserve_image(turn, bytes, image.align, program);
    if (failed(r)) return fail_mapping(failure, path, image.begin, image.end, r);
    // A first segment that is itself not aligned keeps its distance from the alignment.
    bias = static_cast<u64>(r) - image.begin;
    if (u64 odd = image.begin % image.align; odd != 0) {
      memory::munmap(turn, static_cast<u64>(r), bytes);
      r = memory::reserve_image(turn, bytes + odd, image.align, program);
      if (failed(r)) return fail_mapping(failure, path, image.begin, image.end, r);
      memory::munmap(turn, static_cast<u64>(r), odd);
      bias = static_cast<u64>(r) + odd - image.begin;
    }
  }
  GuestAddr mapped_end = 0;
  for (u32 i = 0; i < image.segment_count; ++i) {
    const Segment& s = image.segments[i];
    SysResult r = map_segment(turn, file, s, bias, mapped_end, file.header.position_independent);
    if (failed(r)) return fail_mapping(failure, path, s.begin() + bias, s.end() + bias, r);
    GuestAddr begin = s.begin() + bias;
    if (file.header.position_independent && i > 0 && begin > mapped_end)
      memory::munmap(turn, mapped_end, begin - mapped_end);
    mapped_end = s.end() + bias;
  }
  return true;
}

u64 kernel_value(const u64* auxv, u64 type, u64 otherwise) {
  for (; auxv[0] != AT_NULL; auxv += 2) {
    if (auxv[0] == type) return auxv[1];
  }
  return otherwise;
}

/// The 16 bytes of AT_RANDOM: seeds of stack protectors and hashes. The one place they come from.
void fill_random(u8 (&bytes)[16]) {
  if (raw_syscall(__NR_getrandom, arg(bytes), sizeof bytes, 0) != static_cast<SysResult>(sizeof bytes))
    DETREC_PANIC("getrandom failed");
}

/// What goes into the auxiliary vector about the program; addresses on the stack are filled in by the caller.
struct ImageFacts {
  GuestAddr phdr, entry, base;
  u32 phnum;
};

AuxVector make_auxv(const u64* kernel, const ImageFacts& facts, const StackLayout& layout) {
  AuxVector v;
  // In the kernel's order (create_elf_tables), which leaves out AT_SYSINFO_EHDR (time must pass through us)
  // and rseq (refused).
  v.add(AT_MINSIGSTKSZ, kernel_value(kernel, AT_MINSIGSTKSZ, 2048));
  v.add(AT_HWCAP, kernel_value(kernel, AT_HWCAP, 0));
  v.add(AT_PAGESZ, kPageSize);
  v.add(AT_CLKTCK, kernel_value(kernel, AT_CLKTCK, 100));
  v.add(AT_PHDR, facts.phdr);
  v.add(AT_PHENT, 56);
  v.add(AT_PHNUM, facts.phnum);
  v.add(AT_BASE, facts.base);
  v.add(AT_FLAGS, kernel_value(kernel, AT_FLAGS, 0));
  v.add(AT_ENTRY, facts.entry);
  v.add(AT_UID, kernel_value(kernel, AT_UID, 0));
  v.add(AT_EUID, kernel_value(kernel, AT_EUID, 0));
  v.add(AT_GID, kernel_value(kernel, AT_GID, 0));
  v.add(AT_EGID, kernel_value(kernel, AT_EGID, 0));
  v.add(AT_SECURE, kernel_value(kernel, AT_SECURE, 0));
  v.add(AT_RANDOM, layout.random);
  v.add(AT_HWCAP2, kernel_value(kernel, AT_HWCAP2, 0) & ~kHiddenHwcap2);
  v.add(AT_EXECFN, layout.execfn);
  if (layout.platform != 0) v.add(AT_PLATFORM, layout.platform);
  v.add(AT_NULL, 0);
  return v;
}

bool write_to_guest(void* turn, GuestAddr to, const void* from, u64 n) {
  return memory::write_guest(*static_cast<Turn*>(turn), to, from, n);
}

/// Maps the initial stack and fills it. Sets the stack pointer.
bool make_stack(Turn& turn, const Program& program, const Resolved& resolved, const ImageFacts& facts,
                LoadFailure& failure) {
  // Every #! line puts "interpreter [argument]" before the path that had it; the path replaces argv[0].
  const char* prefix[2 * kScriptDepth + 1];
  u32 prefix_count = 0;
  const char* const* argv = program.argv;
  static constexpr const char* kEmpty[] = {"", nullptr};
  if (argv[0] == nullptr) argv = kEmpty;  // as kernels since 5.18
  for (int i = resolved.script_count - 1; i >= 0; --i) {
    prefix[prefix_count++] = resolved.scripts[i].interpreter;
    if (resolved.scripts[i].has_argument) prefix[prefix_count++] = resolved.scripts[i].argument;
  }
  if (resolved.script_count > 0) {
    prefix[prefix_count++] = program.path;
    ++argv;
  }
  StackInput input{};
  input.prefix = prefix;
  input.prefix_count = prefix_count;
  input.argv = argv;
  input.envp = program.envp;
  input.execfn = program.path;
  input.platform = "x86_64";
  input.top = memory::stack_top();
  fill_random(input.random);

  StackLayout with_platform{};
  with_platform.platform = 1;
  AuxVector counted = make_auxv(program.kernel_auxv, facts, with_platform);
  StackLayout layout = plan_stack(input, counted.count);
  AuxVector auxv = make_auxv(program.kernel_auxv, facts, layout);

  GuestAddr bottom = page_down(layout.strings) - kStackExpand;
  u64 limit = memory::stack_limit();
  if (limit < input.top - bottom) bottom = page_up(input.top - limit);
  if (bottom > page_down(layout.sp)) bottom = page_down(layout.sp);
  u32 prot = PROT_READ | PROT_WRITE | (resolved.program.image.executable_stack ? PROT_EXEC : 0);
  SysResult r = memory::map_image(
      turn, bottom, input.top - bottom, prot,
      MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN | MAP_STACK | MAP_FIXED_NOREPLACE, -1, 0, false, nullptr);
  if (failed(r)) return fail_mapping(failure, program.path, bottom, input.top, r);
  if (!write_stack(input, layout, auxv, write_to_guest, &turn))
    return fail(failure, 126, program.path, "its arguments do not fit the stack");
  memory::set_stack_start(layout.sp);
  turn.gpr(kRsp) = layout.sp;
  remember_stack(layout, auxv);
  return true;
}

/// As the kernel's ELF loader computes them.
ProgramRanges ranges_of(const ElfImage& image, GuestAddr bias, GuestAddr sp) {
  ProgramRanges out{{0, 0}, {0, 0}, memory::default_brk_start(), sp};
  for (u32 i = 0; i < image.segment_count; ++i) {
    const Segment& s = image.segments[i];
    GuestAddr begin = s.vaddr + bias, end = begin + s.file_bytes;
    if ((s.prot & PROT_EXEC) != 0) {
      if (out.code.begin == 0) out.code.begin = begin;
      out.code.end = end;
    }
    out.data = {begin, end};
  }
  if (out.code.begin == 0) out.code = out.data;
  return out;
}

const char* base_name(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash != nullptr ? slash + 1 : path;
}

/// glibc's dynamic linker reserves room for libraries by anonymous mappings, which are then for code; others
/// do not.
void note_glibc_linker(const char* path, const ElfImage& image, GuestAddr bias) {
  if (starts_with(base_name(path), "ld-linux"))
    memory::set_linker_range(image.begin + bias, image.end + bias);
}

void explain(const Refusal& why, LoadFailure& failure) {
  failure.status = why.code == -ENOENT ? 127 : 126;
  describe(why, failure.message, sizeof failure.message);
}

/// Maps the dynamic linker: its entry and what AT_BASE says. The program's file is closed by now.
bool load_linker(Turn& turn, Resolved& resolved, Refusal& why, ImageFacts& facts, GuestAddr& start,
                 LoadFailure& failure) {
  if (!open_linker(resolved, why)) {
    explain(why, failure);
    return false;
  }
  const ImageFile& linker = resolved.linker;
  if (!map_file(turn, linker, resolved.linker_path, false, facts.base, failure)) return false;
  start = linker.header.entry + facts.base;
  note_glibc_linker(resolved.linker_path, linker.image, facts.base);
  close_file(resolved.linker);
  return true;
}

bool load(Turn& turn, const Program& program, Resolved& resolved, Refusal& why, LoadFailure& failure) {
  ImageFile& file = resolved.program;
  GuestAddr bias = 0;
  if (!map_file(turn, file, program.path, true, bias, failure)) return false;
  ImageFacts facts{};
  facts.entry = file.header.entry + bias;
  facts.phdr = file.image.phdr_address != 0 ? file.image.phdr_address + bias : 0;
  facts.phnum = file.header.phnum;
  GuestAddr start = facts.entry;
  remember_executable(file.fd, program.path);
  note_glibc_linker(program.path, file.image, bias);  // run as a program: ld-linux-x86-64.so.2 ./program
  close_file(file);
  if (resolved.linker_path[0] != 0 && !load_linker(turn, resolved, why, facts, start, failure)) return false;
  memory::set_brk_start(memory::default_brk_start());

  Registers& regs = turn.regs();
  regs = {};
  regs.rflags = 0x202;
  regs.pc = start;
  if (!make_stack(turn, program, resolved, facts, failure)) return false;
  remember_ranges(ranges_of(file.image, bias, regs.gpr[kRsp]));
  raw_syscall(__NR_prctl, PR_SET_NAME, arg(base_name(program.path)));
  return true;
}

}  // namespace

bool load_program(Turn& turn, const Program& program, LoadFailure& failure) {
  if (!memory::start(program.kernel_auxv, failure.message, sizeof failure.message)) {
    failure.status = 125;
    return false;
  }
  auto* resolved = static_cast<Resolved*>(engine_reserve(sizeof(Resolved)));
  auto* why = static_cast<Refusal*>(engine_reserve(sizeof(Refusal)));
  bool ok = resolve(AT_FDCWD, program.path, 0, *resolved, *why);
  if (ok) {
    ok = load(turn, program, *resolved, *why, failure);
  } else {
    explain(*why, failure);
  }
  engine_release(resolved, sizeof(Resolved));
  engine_release(why, sizeof(Refusal));
  return ok;
}

SysResult check_executable(i32 dirfd, const char* path, u32 flags) {
  auto* resolved = static_cast<Resolved*>(engine_reserve(sizeof(Resolved)));
  auto* why = static_cast<Refusal*>(engine_reserve(sizeof(Refusal)));
  SysResult result = 0;
  bool ok = resolve(dirfd, path, flags, *resolved, *why);
  if (ok) {
    close_file(resolved->program);
    ok = resolved->linker_path[0] == 0 || open_linker(*resolved, *why);
    if (ok) close_file(resolved->linker);
  }
  if (!ok) {
    result = why->code;
    if (why->elf == ElfError::kOtherMachine || why->unreadable) {
      char message[256];
      describe(*why, message, sizeof message);
      warn("%s", message);
    }
  }
  engine_release(resolved, sizeof(Resolved));
  engine_release(why, sizeof(Refusal));
  return result;
}

}  // namespace detrec::guest::load
