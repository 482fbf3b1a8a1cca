// Every condition in every form (short jcc, near jcc, backward jcc, setcc, cmovcc) under every combination of
// flags.
#include "guest.h"

enum { kCarry = 1, kParity = 4, kZero = 64, kSign = 128, kOverflow = 2048 };

static int expected(int condition, unsigned flags) {
  int c = (flags & kCarry) != 0, p = (flags & kParity) != 0, z = (flags & kZero) != 0,
      s = (flags & kSign) != 0, o = (flags & kOverflow) != 0;
  int values[] = {o, c, z, c | z, s, p, s != o, z | (s != o)};
  return values[condition >> 1] ^ (condition & 1);
}

// Bit 0: short, 1: near, 2: backward short, 3: setcc, 4: cmovcc, 5: backward near.
#define FORM(name)                                                       \
  static int run_##name(unsigned long flags) {                           \
    int result = 0;                                                      \
    unsigned char set = 0;                                               \
    int moved = 0, one = 1;                                              \
    __asm__ volatile(                                                    \
        "sub $128, %%rsp\n"                                              \
        "push %[flags]\n popfq\n"                                        \
        "j" #name                                                        \
        " 1f\n"                                                          \
        "jmp 2f\n"                                                       \
        "1: lea 1(%[result]), %[result]\n"                               \
        "2: push %[flags]\n popfq\n"                                     \
        ".byte 0x0f\n .byte 0x80 + condition_" #name                     \
        "\n .long 3f - 9f\n"                                             \
        "9: jmp 4f\n"                                                    \
        "3: lea 2(%[result]), %[result]\n"                               \
        "jmp 4f\n"                                                       \
        "6: lea 4(%[result]), %[result]\n"                               \
        "jmp 7f\n"                                                       \
        "4: push %[flags]\n popfq\n"                                     \
        "j" #name                                                        \
        " 6b\n"                                                          \
        "7: push %[flags]\n popfq\n"                                     \
        "set" #name                                                      \
        " %[set]\n"                                                      \
        "cmov" #name                                                     \
        " %[one], %[moved]\n"                                            \
        "jmp 8f\n"                                                       \
        "5: lea 32(%[result]), %[result]\n"                              \
        "jmp 10f\n"                                                      \
        "8: .byte 0x0f\n .byte 0x80 + condition_" #name                  \
        "\n .long 5b - 11f\n"                                            \
        "11:\n"                                                          \
        "10: add $128, %%rsp\n"                                          \
        : [result] "+&r"(result), [set] "+&q"(set), [moved] "+&r"(moved) \
        : [flags] "r"(flags), [one] "r"(one)                             \
        : "memory", "cc");                                               \
    return result | set << 3 | moved << 4;                               \
  }

__asm__(
    "condition_o = 0\n condition_no = 1\n condition_b = 2\n condition_ae = 3\n condition_e = 4\n "
    "condition_ne = 5\n"
    "condition_be = 6\n condition_a = 7\n condition_s = 8\n condition_ns = 9\n condition_p = 10\n "
    "condition_np = 11\n"
    "condition_l = 12\n condition_ge = 13\n condition_le = 14\n condition_g = 15\n");

FORM(o)
FORM(no) FORM(b) FORM(ae) FORM(e) FORM(ne) FORM(be) FORM(a) FORM(s) FORM(ns) FORM(p) FORM(np) FORM(l) FORM(ge)
    FORM(le) FORM(g)

        int main(void) {
  int (*const run[])(unsigned long) = {run_o, run_no, run_b, run_ae, run_e, run_ne, run_be, run_a,
                                       run_s, run_ns, run_p, run_np, run_l, run_ge, run_le, run_g};
  int taken = 0;
  for (int condition = 0; condition < 16; condition++) {
    for (unsigned combination = 0; combination < 32; combination++) {
      unsigned flags = 2 | (combination & 1 ? kCarry : 0) | (combination & 2 ? kParity : 0) |
                       (combination & 4 ? kZero : 0) | (combination & 8 ? kSign : 0) |
                       (combination & 16 ? kOverflow : 0);
      int want = expected(condition, flags) ? 63 : 0;
      int got = run[condition](flags);
      if (got != want) {
        guest_failures++;
        printf("FAILED condition %d, flags %x: forms %x, expected %x\n", condition, flags, got, want);
      }
      taken += want != 0;
    }
  }
  printf("%d of 512 taken\n", taken);
  return guest_result();
}
