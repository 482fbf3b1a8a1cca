#include "trace/guest/load/script.h"

#include "trace/guest/base/string.h"

namespace detrec::guest::load {
namespace {

bool is_blank(u8 c) { return c == ' ' || c == '\t'; }

u64 skip_blanks(const u8* text, u64 from, u64 end) {
  while (from < end && is_blank(text[from])) ++from;
  return from;
}

/// The first blank or NUL at or after `from`, or `end`.
u64 word_end(const u8* text, u64 from, u64 end) {
  while (from < end && text[from] != 0 && !is_blank(text[from])) ++from;
  return from;
}

}  // namespace

ScriptKind parse_script(const u8* head, u64 n, ScriptLine& line) {
  if (n < 2 || head[0] != '#' || head[1] != '!') return ScriptKind::kNone;
  u8 text[kScriptHead] = {};  // a short file is followed by zeros
  memcpy(text, head, n < kScriptHead ? n : kScriptHead);

  u64 end = 2;
  while (end < kScriptHead && text[end] != '\n') ++end;
  if (end == kScriptHead) {
    // No newline in sight: the argument may be cut off, the interpreter's name may not.
    u64 name = skip_blanks(text, 2, kScriptHead - 1);
    if (word_end(text, name, kScriptHead) == kScriptHead) return ScriptKind::kBroken;
    end = kScriptHead - 1;
  }
  while (end > 2 && is_blank(text[end - 1])) --end;

  u64 name = skip_blanks(text, 2, end);
  u64 name_end = word_end(text, name, end);
  if (name == name_end) return ScriptKind::kBroken;
  memcpy(line.interpreter, text + name, name_end - name);
  line.interpreter[name_end - name] = 0;

  line.argument[0] = 0;
  line.has_argument = name_end < end && text[name_end] != 0;
  if (line.has_argument) {
    u64 argument = skip_blanks(text, name_end, end);
    u64 argument_end = argument;
    while (argument_end < end && text[argument_end] != 0) ++argument_end;
    memcpy(line.argument, text + argument, argument_end - argument);
    line.argument[argument_end - argument] = 0;
  }
  return ScriptKind::kScript;
}

}  // namespace detrec::guest::load
