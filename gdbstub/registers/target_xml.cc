#include "gdbstub/registers/target_xml.h"

namespace detrec::gdbstub::registers {

namespace {

const char* feature_name(Feature feature) {
  switch (feature) {
    case Feature::kCore:
      return "org.gnu.gdb.i386.core";
    case Feature::kSse:
      return "org.gnu.gdb.i386.sse";
    case Feature::kLinux:
      return "org.gnu.gdb.i386.linux";
    case Feature::kSegments:
      return "org.gnu.gdb.i386.segments";
    case Feature::kAvx:
      return "org.gnu.gdb.i386.avx";
    case Feature::kAvx512:
      return "org.gnu.gdb.i386.avx512";
  }
  return "";
}

struct Flag {
  const char* name;
  unsigned bit;
};

constexpr Flag kEflags[] = {{"CF", 0},  {"", 1},    {"PF", 2},   {"AF", 4},   {"ZF", 6},  {"SF", 7},
                            {"TF", 8},  {"IF", 9},  {"DF", 10},  {"OF", 11},  {"NT", 14}, {"RF", 16},
                            {"VM", 17}, {"AC", 18}, {"VIF", 19}, {"VIP", 20}, {"ID", 21}};
constexpr Flag kMxcsr[] = {{"IE", 0}, {"DE", 1}, {"ZE", 2}, {"OE", 3},  {"UE", 4},  {"PE", 5},  {"DAZ", 6},
                           {"IM", 7}, {"DM", 8}, {"ZM", 9}, {"OM", 10}, {"UM", 11}, {"PM", 12}, {"FZ", 15}};

template <std::size_t N>
std::string flags_type(const char* id, const Flag (&flags)[N]) {
  std::string text = std::string("<flags id=\"") + id + "\" size=\"4\">\n";
  for (const auto& flag : flags) {
    const auto bit = std::to_string(flag.bit);
    text += std::string("<field name=\"") + flag.name + "\" start=\"" + bit + "\" end=\"" + bit + "\"/>\n";
  }
  return text + "</flags>\n";
}

constexpr const char* kVec128 =
    "<vector id=\"v4f\" type=\"ieee_single\" count=\"4\"/>\n"
    "<vector id=\"v2d\" type=\"ieee_double\" count=\"2\"/>\n"
    "<vector id=\"v16i8\" type=\"int8\" count=\"16\"/>\n"
    "<vector id=\"v8i16\" type=\"int16\" count=\"8\"/>\n"
    "<vector id=\"v4i32\" type=\"int32\" count=\"4\"/>\n"
    "<vector id=\"v2i64\" type=\"int64\" count=\"2\"/>\n"
    "<union id=\"vec128\">\n"
    "<field name=\"v4_float\" type=\"v4f\"/>\n"
    "<field name=\"v2_double\" type=\"v2d\"/>\n"
    "<field name=\"v16_int8\" type=\"v16i8\"/>\n"
    "<field name=\"v8_int16\" type=\"v8i16\"/>\n"
    "<field name=\"v4_int32\" type=\"v4i32\"/>\n"
    "<field name=\"v2_int64\" type=\"v2i64\"/>\n"
    "<field name=\"uint128\" type=\"uint128\"/>\n"
    "</union>\n";

/// Types belong to one feature; each that uses one has it written out.
std::string types_of(Feature feature) {
  switch (feature) {
    case Feature::kCore:
      return flags_type("i386_eflags", kEflags);
    case Feature::kSse:
      return kVec128 + flags_type("i386_mxcsr", kMxcsr);
    case Feature::kAvx512:
      return std::string(kVec128) + "<vector id=\"v2ui128\" type=\"uint128\" count=\"2\"/>\n";
    default:
      return {};
  }
}

std::string register_line(const RegisterRow& row, std::size_t number) {
  std::string text = "<reg name=\"" + row.name + "\" bitsize=\"" + std::to_string(row.size * 8) +
                     "\" type=\"" + row.type + "\" regnum=\"" + std::to_string(number) + "\"";
  if (row.group != nullptr) text += std::string(" group=\"") + row.group + "\"";
  return text + "/>\n";
}

}  // namespace

std::string target_xml(const Layout& layout) {
  std::string text =
      "<?xml version=\"1.0\"?>\n<!DOCTYPE target SYSTEM \"gdb-target.dtd\">\n<target>\n"
      "<architecture>i386:x86-64</architecture>\n<osabi>GNU/Linux</osabi>\n";
  const auto rows = layout.rows();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i == 0 || rows[i].feature != rows[i - 1].feature) {
      if (i != 0) text += "</feature>\n";
      text += std::string("<feature name=\"") + feature_name(rows[i].feature) + "\">\n" +
              types_of(rows[i].feature);
    }
    text += register_line(rows[i], i);
  }
  return text + "</feature>\n</target>\n";
}

}  // namespace detrec::gdbstub::registers
