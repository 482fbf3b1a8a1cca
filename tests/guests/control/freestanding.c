// A program without library, time, randomness or input: every register of it is the same in every run. It
// sorts, hashes, recurses, interprets, makes code, takes faults and traps in handlers, and prints what came
// out. The determinism test stops it at many places and compares register hashes.
#include <stddef.h>
#include <stdint.h>

static long call6(long number, long a, long b, long c, long d, long e, long f) {
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}
enum { kWrite = 1, kMmap = 9, kSigaction = 13, kExitGroup = 231 };

void* memcpy(void* to, const void* from, size_t count) {
  char* out = to;
  __asm__ volatile("rep movsb" : "+D"(out), "+S"(from), "+c"(count) : : "memory");
  return to;
}
void* memset(void* to, int value, size_t count) {
  char* out = to;
  __asm__ volatile("rep stosb" : "+D"(out), "+c"(count) : "a"(value) : "memory");
  return to;
}

static void print(const char* what, uint64_t value) {
  char line[80];
  size_t length = 0;
  while (what[length]) {
    line[length] = what[length];
    length++;
  }
  line[length++] = ' ';
  char digits[20];
  int count = 0;
  do {
    digits[count++] = (char)('0' + value % 10);
    value /= 10;
  } while (value);
  while (count) line[length++] = digits[--count];
  line[length++] = '\n';
  call6(kWrite, 1, (long)line, (long)length, 0, 0, 0);
}

static uint64_t state = 88172645463325252u;
static uint64_t next(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

typedef int (*Less)(uint64_t, uint64_t);
static int less_low(uint64_t a, uint64_t b) { return (a & 0xffff) < (b & 0xffff); }
static int less_all(uint64_t a, uint64_t b) { return a < b; }
static __attribute__((noinline)) void sort(uint64_t* from, uint64_t* to, Less less) {
  while (to - from > 1) {
    uint64_t pivot = from[(to - from) / 2], *low = from, *high = to - 1;
    while (low <= high) {
      while (less(*low, pivot)) low++;
      while (less(pivot, *high)) high--;
      if (low <= high) {
        uint64_t kept = *low;
        *low++ = *high;
        *high-- = kept;
      }
    }
    sort(from, high + 1, less);
    from = low;
  }
}

static __attribute__((noinline)) long fibonacci(long n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static __attribute__((noinline)) uint64_t interpret(const unsigned char* program, long steps) {
  static void* const kLabels[] = {&&add, &&multiply, &&rotate, &&exchange, &&back};
  uint64_t a = 1, b = 2;
  const unsigned char* at = program;
  goto* kLabels[*at % 5];
#define NEXT                      \
  if (--steps == 0) return a ^ b; \
  at++;                           \
  goto* kLabels[*at % 5]
add:
  a += b + *at;
  NEXT;
multiply:
  b = b * 31 + *at;
  NEXT;
rotate:
  a = (a << 13) | (a >> 51);
  NEXT;
exchange : {
  uint64_t kept = a;
  a = b;
  b = kept;
}
  NEXT;
back:
  if (at - program > 900) at = program + (a & 255);
  NEXT;
}

static double floating(int n) {
  double x = 1, y = 0;
  for (int i = 1; i < n; i++) {
    x = x * 1.000001 + 1.0 / i;
    y += x / (i + y);
  }
  return y;
}

struct kernel_sigaction {
  void (*handler)(int, void*, uint64_t*);
  unsigned long flags;
  void (*restorer)(void);
  unsigned long mask;
};
void restore(void);
__asm__(".text\n.globl restore\nrestore: mov $15, %eax\n syscall\n");
static volatile int faults;
static void handler(int number, void* info, uint64_t* context) {
  (void)info;
  faults++;
  // The context's rip: over "movl $1, (%rax)" (6 bytes); a breakpoint's pc is behind it already.
  if (number == 11) context[5 + 16] += 6;
}

static uint64_t run_code(void) {
  unsigned char* code = (unsigned char*)call6(kMmap, 0, 65536, 7, 0x22, -1, 0);
  uint64_t sum = 0;
  for (int i = 0; i < 300; i++) {
    unsigned char* at = code + i % 50 * 64;
    at[0] = 0x8d, at[1] = 0x87;  // lea i(%rdi), %eax; ret
    memcpy(at + 2, &i, 4);
    at[6] = 0xc3;
    sum += (uint64_t)((int (*)(int))at)(i);
  }
  return sum;
}

__attribute__((used)) static void run(void) {
  static uint64_t numbers[5000];
  for (int i = 0; i < 5000; i++) numbers[i] = next();
  sort(numbers, numbers + 5000, less_low);
  print("low half", numbers[2500]);
  sort(numbers, numbers + 5000, less_all);
  print("middle", numbers[2500]);
  print("fibonacci", (uint64_t)fibonacci(20));
  static unsigned char program[1200];
  for (int i = 0; i < 1200; i++) program[i] = (unsigned char)next();
  print("interpreted", interpret(program, 30000));
  print("floating", (uint64_t)(floating(20000) * 1e9));
  struct kernel_sigaction action = {handler, 0x04000004, restore, 0};
  call6(kSigaction, 11, (long)&action, 0, 8, 0, 0);
  call6(kSigaction, 5, (long)&action, 0, 8, 0, 0);
  for (int i = 0; i < 50; i++) {
    __asm__ volatile("xor %%eax, %%eax\n movl $1, (%%rax)\n int3\n" : : : "rax", "memory", "cc");
  }
  print("faults", (uint64_t)faults);
  print("made code", run_code());
  call6(kExitGroup, faults == 100 ? 0 : 1, 0, 0, 0, 0, 0);
}
__asm__(".text\n.globl _start\n_start: xor %ebp, %ebp\n and $-16, %rsp\n call run\n hlt\n");
