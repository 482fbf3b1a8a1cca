#include "trace/guest/load/elf_image.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

namespace detrec::guest::load {
namespace {

struct File {
  Elf64_Ehdr header{};
  std::vector<Elf64_Phdr> segments;
  u64 size = 0x10000;

  File() {
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_type = ET_DYN;
    header.e_machine = EM_X86_64;
    header.e_phoff = 64;
    header.e_phentsize = 56;
    header.e_entry = 0x1040;
    add(PT_LOAD, PF_R, 0, 0, 0x800, 0x800);
    add(PT_LOAD, PF_R | PF_X, 0x1000, 0x1000, 0x500, 0x500);
    add(PT_LOAD, PF_R | PF_W, 0x2e00, 0x3e00, 0x300, 0x1500);
  }
  Elf64_Phdr& add(u32 type, u32 flags, u64 offset, u64 vaddr, u64 filesz, u64 memsz) {
    segments.push_back({type, flags, offset, vaddr, vaddr, filesz, memsz, 0x1000});
    return segments.back();
  }
  std::vector<u8> bytes() {
    header.e_phnum = static_cast<u16>(segments.size());
    std::vector<u8> out(64 + segments.size() * 56);
    std::memcpy(out.data(), &header, 64);
    std::memcpy(out.data() + 64, segments.data(), segments.size() * 56);
    return out;
  }
  ElfError parse(ElfImage& image) {
    std::vector<u8> b = bytes();
    ElfHeader h;
    if (ElfError e = parse_header(b.data(), b.size(), h); e != ElfError::kNone) return e;
    return parse_program_headers(h, b.data() + 64, size, image);
  }
  ElfError parse() {
    ElfImage image;
    return parse(image);
  }
};

TEST(ElfImage, ReadsAnOrdinaryProgram) {
  File f;
  f.add(PT_INTERP, PF_R, 0x318, 0x318, 28, 28);
  f.add(PT_GNU_STACK, PF_R | PF_W | PF_X, 0, 0, 0, 0);
  f.segments[2].p_align = 0x200000;
  ElfImage image;
  ASSERT_EQ(f.parse(image), ElfError::kNone);
  ASSERT_EQ(image.segment_count, 3u);
  EXPECT_EQ(image.begin, 0u);
  EXPECT_EQ(image.end, 0x6000u);
  EXPECT_EQ(image.align, 0x200000u);
  EXPECT_EQ(image.phdr_address, 64u);
  EXPECT_EQ(image.interpreter_offset, 0x318u);
  EXPECT_EQ(image.interpreter_bytes, 28u);
  EXPECT_TRUE(image.executable_stack);
  EXPECT_EQ(image.segments[1].prot, 5u);
  EXPECT_EQ(image.segments[2].begin(), 0x3000u);
  EXPECT_EQ(image.segments[2].file_end(), 0x5000u);
  EXPECT_EQ(image.segments[2].end(), 0x6000u);
}

TEST(ElfImage, NamesOtherMachines) {
  struct {
    u16 machine;
    u8 elf_class, data;
    const char* name;
  } cases[] = {{EM_386, ELFCLASS32, ELFDATA2LSB, "i386"},
               {EM_AARCH64, ELFCLASS64, ELFDATA2LSB, "AArch64"},
               {EM_X86_64, ELFCLASS32, ELFDATA2LSB, "x32"},
               {static_cast<u16>(EM_S390 << 8), ELFCLASS64, ELFDATA2MSB, "S/390"}};
  for (auto& c : cases) {
    File f;
    f.header.e_machine = c.machine;
    f.header.e_ident[EI_CLASS] = c.elf_class;
    f.header.e_ident[EI_DATA] = c.data;
    std::vector<u8> b = f.bytes();
    ElfHeader h;
    EXPECT_EQ(parse_header(b.data(), b.size(), h), ElfError::kOtherMachine) << c.name;
    EXPECT_STREQ(machine_name(h.machine, h.bits32), c.name);
  }
  EXPECT_EQ(machine_name(54321, false), nullptr);
}

TEST(ElfImage, RefusesWhatIsNoProgram) {
  const u8 text[] = "#!/bin/sh\necho\n and more text that is long enough";
  ElfHeader h;
  EXPECT_EQ(parse_header(text, sizeof text, h), ElfError::kNotElf);
  EXPECT_EQ(parse_header(text, 0, h), ElfError::kNotElf);
  File f;
  std::vector<u8> b = f.bytes();
  EXPECT_EQ(parse_header(b.data(), 40, h), ElfError::kBroken);
  f.header.e_type = ET_REL;
  EXPECT_EQ(f.parse(), ElfError::kNotExecutable);
  f.header.e_type = ET_CORE;
  EXPECT_EQ(f.parse(), ElfError::kNotExecutable);
}

template <class F>
ElfError with(F change) {
  File f;
  change(f);
  return f.parse();
}

TEST(ElfImage, RefusesBrokenHeaders) {
  EXPECT_EQ(with([](File&) {}), ElfError::kNone);
  EXPECT_EQ(with([](File& f) { f.header.e_phentsize = 55; }), ElfError::kBroken);
  EXPECT_EQ(with([](File& f) { f.segments.clear(); }), ElfError::kBroken);
  EXPECT_EQ(with([](File& f) {
              for (auto& s : f.segments) s.p_type = PT_NOTE;
            }),
            ElfError::kNothingToLoad);
  EXPECT_EQ(with([](File& f) { f.segments[1].p_filesz = 0x501; }), ElfError::kBroken);
  EXPECT_EQ(with([](File& f) { f.segments[1].p_offset = 0x1001; }), ElfError::kBroken);
  EXPECT_EQ(with([](File& f) {
              f.segments[2].p_vaddr = 0x1e00;
              f.segments[2].p_offset = 0x1e00;
              f.segments[1].p_memsz = 0x2000;
            }),
            ElfError::kBroken);
  EXPECT_EQ(with([](File& f) { std::swap(f.segments[0], f.segments[1]); }), ElfError::kBroken);
  EXPECT_EQ(with([](File& f) { f.segments[2].p_memsz = ~0ull - 0x3000; }), ElfError::kBroken);
  EXPECT_EQ(with([](File& f) { f.segments[2].p_vaddr = 0x7fff'ffff'fe00; }), ElfError::kBroken);
  EXPECT_EQ(with([](File& f) { f.segments[2].p_offset = ~0ull - 0x1ff; }), ElfError::kBroken);
  EXPECT_EQ(with([](File& f) { f.size = 0x2fff; }), ElfError::kBroken);
  EXPECT_EQ(with([](File& f) { f.add(PT_INTERP, PF_R, 0x318, 0x318, 1, 1); }), ElfError::kBroken);
  EXPECT_EQ(with([](File& f) { f.add(PT_INTERP, PF_R, 0x318, 0x318, 5000, 5000); }), ElfError::kBroken);
  EXPECT_EQ(with([](File& f) { f.add(PT_INTERP, PF_R, ~0ull - 3, 0x318, 10, 10); }), ElfError::kBroken);
}

/// What the loader relies on.
void expect_sound(const ElfImage& image, u64 file_size) {
  ASSERT_GT(image.segment_count, 0u);
  ASSERT_LE(image.segment_count, ElfImage::kMaxSegments);
  u64 last_end = 0;
  for (u32 i = 0; i < image.segment_count; ++i) {
    const Segment& s = image.segments[i];
    ASSERT_GE(s.vaddr, last_end);
    last_end = s.vaddr + s.memory_bytes;
    ASSERT_LT(s.vaddr, last_end);
    ASSERT_LE(s.end(), 0x7fff'ffff'f000u);
    ASSERT_LE(s.file_bytes, s.memory_bytes);
    if (s.file_bytes != 0) {
      ASSERT_LE(s.file_offset, file_size);
      ASSERT_LE(s.file_bytes, file_size - s.file_offset);
      ASSERT_EQ(s.file_offset % kPageSize, s.vaddr % kPageSize);
    }
    ASSERT_GE(s.begin(), image.begin);
    ASSERT_LE(s.end(), image.end);
  }
  ASSERT_EQ(image.align & (image.align - 1), 0u);
  ASSERT_GE(image.align, kPageSize);
  if (image.interpreter_bytes != 0) {
    ASSERT_LE(image.interpreter_bytes, 4096u);
    ASSERT_LE(image.interpreter_offset + image.interpreter_bytes, file_size);
  }
}

TEST(ElfImage, FuzzedHeadersAreRefusedOrSound) {
  std::mt19937_64 random(7);
  int accepted = 0;
  const u64 odd[] = {0, 1, 0xfff, 0x1000, ~0ull, 1ull << 63, 0x7fff'ffff'f000, 0x10000, 0x8000'0000};
  for (int round = 0; round < 300'000; ++round) {
    File f;
    f.add(PT_INTERP, PF_R, 0x318, 0x318, 28, 28);
    std::vector<u8> b = f.bytes();
    for (u64 changes = 1 + random() % 4; changes > 0; --changes) {
      std::size_t at = random() % b.size();
      if (random() % 2 == 0) {
        b[at] = static_cast<u8>(random());
      } else {
        at = std::min<std::size_t>(at & ~7ull, b.size() - 8);
        u64 value = odd[random() % std::size(odd)];
        std::memcpy(b.data() + at, &value, 8);
      }
    }
    ElfHeader h;
    if (parse_header(b.data(), b.size(), h) != ElfError::kNone) continue;
    u64 bytes = h.phnum * 56ull;
    ASSERT_LE(bytes, kProgramHeaderBytes);
    std::vector<u8> phdrs(bytes);
    if (h.phoff < b.size())
      std::memcpy(phdrs.data(), b.data() + h.phoff, std::min<u64>(bytes, b.size() - h.phoff));
    ElfImage image;
    if (parse_program_headers(h, phdrs.data(), f.size, image) != ElfError::kNone) continue;
    ++accepted;
    expect_sound(image, f.size);
    if (HasFatalFailure()) return;
    spans_code(b.data(), b.size(), random() % 0x8000);
  }
  EXPECT_GT(accepted, 10'000);  // the fuzzing reaches beyond the first check
}

TEST(ElfImage, RecognisesTheMappingOfAWholeLibrary) {
  File f;
  std::vector<u8> b = f.bytes();
  EXPECT_TRUE(spans_code(b.data(), b.size(), 0x3e00 + 0x1500));
  EXPECT_TRUE(spans_code(b.data(), b.size(), 0x6000));
  EXPECT_FALSE(spans_code(b.data(), b.size(), 0x5000));  // somebody reads the file
  EXPECT_FALSE(spans_code(b.data(), 100, 0x6000));
  f.segments[1].p_flags = PF_R;
  b = f.bytes();
  EXPECT_FALSE(spans_code(b.data(), b.size(), 0x6000));
}

TEST(ElfImage, ReadsThisTestItself) {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  std::vector<char> content((std::istreambuf_iterator<char>(file)), {});
  const u8* bytes = reinterpret_cast<const u8*>(content.data());
  ElfHeader h;
  ASSERT_EQ(parse_header(bytes, content.size(), h), ElfError::kNone);
  ElfImage image;
  ASSERT_EQ(parse_program_headers(h, bytes + h.phoff, content.size(), image), ElfError::kNone);
  expect_sound(image, content.size());
  EXPECT_TRUE(image.has_code());
  EXPECT_FALSE(image.executable_stack);
  EXPECT_NE(image.phdr_address, 0u);
  EXPECT_STREQ(reinterpret_cast<const char*>(bytes + image.interpreter_offset),
               "/lib64/ld-linux-x86-64.so.2");
}

}  // namespace
}  // namespace detrec::guest::load
