#include "gdbstub/registers/layout.h"

#include <algorithm>
#include <cstring>

#include "gdbstub/packet/hex.h"

namespace detrec::gdbstub::registers {

namespace {

using Accessor = std::uint8_t& (*)(Registers&, std::uint32_t);

template <typename T>
std::uint8_t& first_byte(T& field) {
  return reinterpret_cast<std::uint8_t&>(field);
}

template <auto Member>
std::uint8_t& field(Registers& registers, std::uint32_t) {
  return first_byte(registers.*Member);
}
template <auto Member>
std::uint8_t& element(Registers& registers, std::uint32_t index) {
  return first_byte((registers.*Member)[index]);
}
template <auto Member>
std::uint8_t& x87_field(Registers& registers, std::uint32_t) {
  return first_byte(registers.x87.*Member);
}
template <std::size_t Offset>
std::uint8_t& vector_part(Registers& registers, std::uint32_t index) {
  return registers.vector[index][Offset];
}

/// Appends the rows of one kind: name0, name1, ...
class RowList {
 public:
  explicit RowList(std::vector<RegisterRow>& rows) : rows_(rows) {}

  void start(Feature feature, Part part) {
    feature_ = feature;
    part_ = part;
  }
  void one(std::string name, const char* type, std::uint32_t size, Accessor at, std::uint32_t index = 0,
           const char* group = nullptr) {
    rows_.push_back({std::move(name), feature_, part_, type, group, size, at, index});
  }
  void many(const char* prefix, const char* suffix, std::uint32_t first, std::uint32_t last, const char* type,
            std::uint32_t size, Accessor at) {
    for (auto i = first; i <= last; ++i) one(prefix + std::to_string(i) + suffix, type, size, at, i);
  }

 private:
  std::vector<RegisterRow>& rows_;
  Feature feature_ = Feature::kCore;
  Part part_ = Part::kGeneral;
};

void add_core(RowList& list) {
  constexpr const char* kNames[] = {"rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp",
                                    "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
  list.start(Feature::kCore, Part::kGeneral);
  for (std::uint32_t i = 0; i < 16; ++i) {
    const bool pointer = i == kRbp.value || i == kRsp.value;
    list.one(kNames[i], pointer ? "data_ptr" : "int64", 8, element<&Registers::gpr>, i);
  }
  list.one("rip", "code_ptr", 8, field<&Registers::rip>);
  list.one("eflags", "i386_eflags", 4, field<&Registers::rflags>);
  list.one("cs", "int32", 4, field<&Registers::cs>);
  list.one("ss", "int32", 4, field<&Registers::ss>);
  list.one("ds", "int32", 4, field<&Registers::ds>);
  list.one("es", "int32", 4, field<&Registers::es>);
  list.one("fs", "int32", 4, field<&Registers::fs>);
  list.one("gs", "int32", 4, field<&Registers::gs>);

  list.start(Feature::kCore, Part::kX87);
  for (std::uint32_t i = 0; i < 8; ++i) {
    list.one(
        "st" + std::to_string(i), "i387_ext", 10,
        [](Registers& r, std::uint32_t index) -> std::uint8_t& { return r.x87.st[index][0]; }, i);
  }
  list.one("fctrl", "int", 4, x87_field<&X87::control>, 0, "float");
  list.one("fstat", "int", 4, x87_field<&X87::status>, 0, "float");
  list.one("ftag", "int", 4, x87_field<&X87::tag>, 0, "float");
  list.one("fiseg", "int", 4, x87_field<&X87::instruction_segment>, 0, "float");
  list.one("fioff", "int", 4, x87_field<&X87::instruction_offset>, 0, "float");
  list.one("foseg", "int", 4, x87_field<&X87::operand_segment>, 0, "float");
  list.one("fooff", "int", 4, x87_field<&X87::operand_offset>, 0, "float");
  list.one("fop", "int", 4, x87_field<&X87::opcode>, 0, "float");
}

void add_sse_and_system(RowList& list) {
  list.start(Feature::kSse, Part::kVector);
  list.many("xmm", "", 0, 15, "vec128", 16, vector_part<0>);
  list.one("mxcsr", "i386_mxcsr", 4, field<&Registers::mxcsr>, 0, "vector");
  list.start(Feature::kLinux, Part::kGeneral);
  list.one("orig_rax", "int", 8, field<&Registers::orig_rax>);
  list.start(Feature::kSegments, Part::kGeneral);
  list.one("fs_base", "int", 8, field<&Registers::fs_base>);
  list.one("gs_base", "int", 8, field<&Registers::gs_base>);
}

void add_avx(RowList& list) {
  list.start(Feature::kAvx, Part::kVector);
  list.many("ymm", "h", 0, 15, "uint128", 16, vector_part<16>);
}

void add_avx512(RowList& list) {
  list.start(Feature::kAvx512, Part::kVector);
  list.many("xmm", "", 16, 31, "vec128", 16, vector_part<0>);
  list.many("ymm", "h", 16, 31, "uint128", 16, vector_part<16>);
  list.many("k", "", 0, 7, "uint64", 8, element<&Registers::mask>);
  list.many("zmm", "h", 0, 31, "v2ui128", 32, vector_part<32>);
}

}  // namespace

Layout::Layout(VectorLevel level) : level_(level) {
  RowList list(rows_);
  add_core(list);
  add_sse_and_system(list);
  if (level >= VectorLevel::kAvx) add_avx(list);
  if (level >= VectorLevel::kAvx512) add_avx512(list);
  for (const auto& row : rows_) total_size_ += row.size;
}

bool Layout::known(const RegisterRow& row, const Registers& registers) {
  switch (row.part) {
    case Part::kGeneral:
      return registers.known.general;
    case Part::kX87:
      return registers.known.x87;
    case Part::kVector:
      return registers.known.vector;
  }
  return false;
}

std::optional<std::vector<std::uint8_t>> Layout::get(const Registers& registers,
                                                     RegisterNumber number) const {
  if (number.value >= rows_.size()) return std::nullopt;
  const auto& row = rows_[number.value];
  // The accessors serve reading and writing; nothing is written here.
  const auto* bytes = &row.at(const_cast<Registers&>(registers), row.index);
  return std::vector<std::uint8_t>(bytes, bytes + row.size);
}

bool Layout::set(Registers& registers, RegisterNumber number, std::span<const std::uint8_t> bytes) const {
  if (number.value >= rows_.size() || bytes.size() != rows_[number.value].size) return false;
  const auto& row = rows_[number.value];
  std::memcpy(&row.at(registers, row.index), bytes.data(), bytes.size());
  return true;
}

std::optional<std::string> Layout::get_hex(const Registers& registers, RegisterNumber number) const {
  const auto bytes = get(registers, number);
  if (!bytes) return std::nullopt;
  if (!known(rows_[number.value], registers)) return std::string(bytes->size() * 2, 'x');
  return packet::hex_bytes(*bytes);
}

std::string Layout::all_hex(const Registers& registers) const {
  std::string text;
  text.reserve(total_size_ * 2);
  for (std::uint32_t i = 0; i < rows_.size(); ++i) text += *get_hex(registers, {i});
  return text;
}

bool Layout::set_all_hex(Registers& registers, std::string_view text) const {
  if (text.size() != total_size_ * 2) return false;
  for (std::uint32_t i = 0; i < rows_.size(); ++i) {
    const auto part = text.substr(0, rows_[i].size * 2);
    text.remove_prefix(part.size());
    if (part.find_first_not_of('x') == std::string_view::npos) continue;
    const auto bytes = packet::bytes_from_hex(part);
    if (!bytes || !set(registers, {i}, *bytes)) return false;
  }
  return true;
}

}  // namespace detrec::gdbstub::registers
