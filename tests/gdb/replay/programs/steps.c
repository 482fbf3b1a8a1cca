/* Calls, loops, floating point and writes to memory. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int counter;
int table[64];
char text[128];
volatile double ratio = 1.5;

__attribute__((noinline)) static int square(int x) {
  int result = x * x;  // in square
  return result;       // square returns
}

__attribute__((noinline)) static int factorial(int n) {
  if (n <= 1) return 1;         // bottom
  return n * factorial(n - 1);  // recursion
}

__attribute__((noinline)) static void fill(int rounds) {
  for (int i = 0; i < rounds; ++i) {
    int value = square(i);  // call square
    table[i] = value;       // store
    counter += value;       // add
  }
}

int main(void) {
  counter = 1;                      // first line
  fill(10);                         // call fill
  ratio = ratio * 2 + counter;      // ratio
  int product = factorial(5);       // call factorial
  int pipe_ends[2];                 // before pipe
  if (pipe(pipe_ends) != 0) return 1;
  if (write(pipe_ends[1], "from the pipe", 13) != 13) return 1;
  if (read(pipe_ends[0], text, sizeof text) != 13) return 1;  // read
  memset(text + 64, 'x', 32);                                 // memset
  puts(text);                                                 // puts
  counter = product;                                          // last write
  return 0;                                                   // end
}
