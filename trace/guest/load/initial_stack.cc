#include "trace/guest/load/initial_stack.h"

#include "trace/guest/base/string.h"

namespace detrec::guest::load {
namespace {

u64 bytes_of(const char* s) { return strlen(s) + 1; }

u64 count_of(const char* const* list) {
  u64 n = 0;
  while (list[n] != nullptr) ++n;
  return n;
}

u64 bytes_of_all(const char* const* list) {
  u64 n = 0;
  for (; *list != nullptr; ++list) n += bytes_of(*list);
  return n;
}

constexpr u64 align16(u64 a) { return a & ~15ull; }

}  // namespace

StackLayout plan_stack(const StackInput& in, u32 auxv_pairs) {
  StackLayout out{};
  u64 arg_bytes = bytes_of_all(in.argv);
  for (u32 i = 0; i < in.prefix_count; ++i) arg_bytes += bytes_of(in.prefix[i]);
  // From the top: a null word, the file name, the environment, the arguments.
  out.execfn = in.top - 8 - bytes_of(in.execfn);
  out.env_end = out.execfn;
  out.env_begin = out.env_end - bytes_of_all(in.envp);
  out.arg_end = out.env_begin;
  out.arg_begin = out.arg_end - arg_bytes;
  out.strings = out.arg_begin;
  u64 p = align16(out.arg_begin);
  if (in.platform != nullptr) {
    p -= bytes_of(in.platform);
    out.platform = p;
  }
  p -= sizeof in.random;
  out.random = p;
  u64 words = 1 + in.prefix_count + count_of(in.argv) + 1 + count_of(in.envp) + 1 + 2ull * auxv_pairs;
  out.sp = align16(p - 8 * words);
  return out;
}

bool write_stack(const StackInput& in, const StackLayout& at, const AuxVector& auxv, WriteStack write,
                 void* arg) {
  GuestAddr words = at.sp;
  auto put_word = [&](u64 value) {
    bool ok = write(arg, words, &value, sizeof value);
    words += sizeof value;
    return ok;
  };
  GuestAddr text = at.arg_begin;
  auto put_string = [&](const char* s) {
    u64 n = bytes_of(s);
    bool ok = write(arg, text, s, n) && put_word(text);
    text += n;
    return ok;
  };

  if (!put_word(in.prefix_count + count_of(in.argv))) return false;
  for (u32 i = 0; i < in.prefix_count; ++i)
    if (!put_string(in.prefix[i])) return false;
  for (const char* const* s = in.argv; *s != nullptr; ++s)
    if (!put_string(*s)) return false;
  if (!put_word(0)) return false;
  for (const char* const* s = in.envp; *s != nullptr; ++s)
    if (!put_string(*s)) return false;
  if (!put_word(0)) return false;
  if (!write(arg, words, auxv.words, auxv.count * 16ull)) return false;
  if (!write(arg, at.execfn, in.execfn, bytes_of(in.execfn))) return false;
  if (in.platform != nullptr && !write(arg, at.platform, in.platform, bytes_of(in.platform))) return false;
  return write(arg, at.random, in.random, sizeof in.random);
}

}  // namespace detrec::guest::load
