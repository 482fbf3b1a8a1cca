// What the toy target replays: a short main without library calls. Its lines are found by their comments.
int total;
int squares[10];
volatile double ratio = 1.0;
volatile int spins;

static int square(int x) {
  int result = x * x;  // in square
  return result;
}

static int sum_to(int n) {
  if (n == 0) return 0;  // in sum_to
  int rest = sum_to(n - 1);
  return n + rest;
}

int main(int argc, char** argv) {
  int i;
  (void)argv;
  total = 0;  // first line
  for (i = 0; i < 10; i++) {
    squares[i] = square(i);  // in loop
    total += squares[i];     // after square
    ratio = ratio * 1.5;
  }
  total += sum_to(4);                              // call sum_to
  if (argc > 1) __asm__ volatile("int3");          // own trap
  for (spins = 0; spins < 1500; spins++) total++;  // spin
  total = -total;                                  // last write
  return 0;                                        // last line
}
