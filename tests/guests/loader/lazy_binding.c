// The first call of a lazily bound function goes through the loader's resolver, which must preserve all
// argument registers: integers, xmm/ymm vectors, rax for variable arguments, and the return registers.
// @needs: avx
#include <complex.h>
#include <immintrin.h>

#include "guest.h"

double library_mixed(int a, double b, long c, float d, int e, double f, int g, double h, int i, double j,
                     double k, double l);
__m256d library_vectors(__m256d a, __m256d b, __m256d c, __m256d d, __m256d e, __m256d f, __m256d g,
                        __m256d h);
double library_variable(int count, ...);
long double library_long(long double a, double complex b);

int main(void) {
  printf("%.2f\n", library_mixed(1, 2.5, 3, 4.5f, 5, 6.5, 7, 8.5, 9, 10.5, 11.5, 12.5));
  __m256d v[8];
  for (int i = 0; i < 8; i++) v[i] = _mm256_set_pd(i, i + 0.25, i + 0.5, i + 0.75);
  __m256d result = library_vectors(v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]);
  double lanes[4];
  _mm256_storeu_pd(lanes, result);
  printf("%.2f %.2f %.2f %.2f\n", lanes[0], lanes[1], lanes[2], lanes[3]);
  printf("%.2f\n", library_variable(4, 1.5, 2.5, 3.5, 4.5));
  printf("%.3Lf\n", library_long(1.25L, 2.0 + 3.0 * I));
  return guest_result();
}
