// Variable arguments with integers, doubles (al tells their number), long doubles and copies of the list.
#include <stdarg.h>

#include "guest.h"

static __attribute__((noinline)) double mixed(const char* kinds, ...) {
  va_list arguments, copy;
  va_start(arguments, kinds);
  va_copy(copy, arguments);
  double sum = 0;
  for (int pass = 0; pass < 2; pass++) {
    for (const char* kind = kinds; *kind; kind++) {
      if (*kind == 'i') sum = sum * 3 + (pass ? va_arg(copy, int) : va_arg(arguments, int));
      if (*kind == 'd') sum = sum * 3 + (pass ? va_arg(copy, double) : va_arg(arguments, double));
      if (*kind == 'L')
        sum = sum * 3 + (double)(pass ? va_arg(copy, long double) : va_arg(arguments, long double));
    }
  }
  va_end(copy);
  va_end(arguments);
  return sum;
}

int main(void) {
  printf("%.3f\n", mixed("iidddi", 1, 2, 3.5, 4.5, 5.5, 6));
  printf("%.3f\n", mixed("dddddddddddd", 1., 2., 3., 4., 5., 6., 7., 8., 9., 10., 11., 12.));
  printf("%.3f\n", mixed("iLiLdLd", 1, 2.5L, 3, 4.25L, 5.5, 6.75L, 8.0));
  printf("%d %s %c %f %g %e %Lf %lx %5.2f|%-8d|%+d\n", 1, "two", '3', 4.0, 5e10, 6.5, 7.25L, 8ul, 9.125, 10,
         11);
  char buffer[64];
  EXPECT_EQ(snprintf(buffer, sizeof buffer, "%s-%.1f", "x", 2.25), 5);
  return guest_result();
}
