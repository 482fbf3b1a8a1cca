// Functions with many kinds of arguments, for lazy_binding.
#include <complex.h>
#include <immintrin.h>
#include <stdarg.h>

double library_mixed(int a, double b, long c, float d, int e, double f, int g, double h, int i, double j,
                     double k, double l) {
  return a + 2 * b + 3 * (double)c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j + 11 * k + 12 * l;
}

__m256d library_vectors(__m256d a, __m256d b, __m256d c, __m256d d, __m256d e, __m256d f, __m256d g,
                        __m256d h) {
  return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h;
}

double library_variable(int count, ...) {
  va_list arguments;
  va_start(arguments, count);
  double sum = 0;
  for (int i = 0; i < count; i++) sum = sum * 10 + va_arg(arguments, double);
  va_end(arguments);
  return sum;
}

long double library_long(long double a, double complex b) { return a * 1000 + creal(b) * 10 + cimag(b); }
