/* A loop that reads a variable very often, which few others write. */
volatile int polled;
volatile int other;
volatile long work;

int main(void) {
  other = 1;
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 10000000; ++i) work += polled;  // poll
    ++polled;                                           // write
  }
  return 0;
}
