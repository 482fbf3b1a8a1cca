// Jump tables of switch statements and of computed gotos, in an interpreter loop.
#include "guest.h"

static __attribute__((noinline)) int by_switch(int x) {
  switch (x) {
    case 0:
      return 7;
    case 1:
      return x * 3;
    case 2:
      return x + 100;
    case 3:
      return -x;
    case 4:
      return x << 4;
    case 5:
      return x ^ 0x55;
    case 6:
      return 1000;
    case 7:
      return x * x * x;
    case 9:
      return 9;
    case 1000:
      return 1;
    case 100000:
      return 2;
    default:
      return -1;
  }
}

enum { kPush, kAdd, kSubtract, kDuplicate, kJumpNonzero, kSwap, kStop };

static __attribute__((noinline)) long by_goto(const int* program) {
  static void* const kLabels[] = {&&push, &&add, &&subtract, &&duplicate, &&jump_nonzero, &&swap, &&stop};
  long stack[16] = {0};
  int top = 0;
  const int* at = program;
#define NEXT goto* kLabels[*at++]
  NEXT;
push:
  stack[top++] = *at++;
  NEXT;
add:
  top--;
  stack[top - 1] += stack[top];
  NEXT;
subtract:
  top--;
  stack[top - 1] -= stack[top];
  NEXT;
duplicate:
  stack[top] = stack[top - 1];
  top++;
  NEXT;
jump_nonzero : {
  int offset = *at++;
  if (stack[top - 1] != 0) at += offset;
  NEXT;
}
swap : {
  long first = stack[top - 1];
  stack[top - 1] = stack[top - 2];
  stack[top - 2] = first;
  NEXT;
}
stop:
  return stack[0];
}

int main(void) {
  for (int x = -1; x <= 10; x++) printf("%d ", by_switch(x));
  printf("%d %d\n", by_switch(1000), by_switch(100000));
  // total = 0; counter = 50000; do { total += 3; counter -= 1; } while (counter != 0)
  const int program[] = {kPush, 0,     kPush, 50000,     kSwap,        kPush, 3,    kAdd,
                         kSwap, kPush, 1,     kSubtract, kJumpNonzero, -10,   kStop};
  printf("%ld\n", by_goto(program));
  EXPECT_EQ(by_goto(program), 150000);
  return guest_result();
}
