// UndefinedBehaviorSanitizer reports an overflow on standard error and goes on.
#include "guest.h"

int main(void) {
  volatile int largest = 0x7fffffff, shift = 33;
  volatile int sum = largest + 1;
  volatile int shifted = 1 << shift;
  printf("%d %d\n", sum, shifted != 12345);
  return guest_result();
}
