// Wide vector registers over system calls, signals and random numbers.
#include <immintrin.h>
#include <signal.h>
#include <stdio.h>
#include <sys/random.h>

static volatile int caught;
static void on_signal(int number) {
  (void)number;
  __m512i zero = _mm512_set1_epi32(7);
  __asm__ volatile("" ::"v"(zero));
  caught++;
}

int main(void) {
  int seed[16];
  if (getrandom(seed, sizeof seed, 0) != sizeof seed) return 2;
  signal(SIGUSR1, on_signal);
  __m512i a = _mm512_loadu_si512(seed), b = _mm512_set1_epi32(0x9e3779b9);
  for (int i = 0; i < 100000; i++) {
    __mmask16 less = _mm512_cmplt_epi32_mask(a, b);
    a = _mm512_mask_add_epi32(_mm512_rol_epi32(a, 7), less, a, b);
    b = _mm512_xor_si512(b, _mm512_mullo_epi32(a, b));
    if (i % 10000 == 0) raise(SIGUSR1);
  }
  int out[16];
  _mm512_storeu_si512(out, _mm512_xor_si512(a, b));
  for (int i = 0; i < 16; i++) printf("%08x ", (unsigned)out[i]);
  printf("caught %d\n", caught);
  return 0;
}
