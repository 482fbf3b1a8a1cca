// AVX-512: arithmetic with masks, compress and expand, gathers and scatters, conflicts, permutations, ternary
// logic, in a loop with calls.
// @needs: avx512f avx512bw avx512vl avx512dq avx512cd
#include <immintrin.h>

#include "guest.h"

static __attribute__((noinline)) __m512i mix(__m512i a, __m512i b, __mmask16 mask) {
  __m512i sum = _mm512_mask_add_epi32(a, mask, a, b);
  sum = _mm512_ternarylogic_epi32(sum, a, b, 0x96);
  sum = _mm512_rol_epi32(sum, 7);
  return _mm512_mask_permutexvar_epi32(
      sum, (__mmask16)~mask, _mm512_setr_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0), sum);
}

int main(void) {
  __builtin_cpu_init();
  EXPECT(__builtin_cpu_supports("avx512f"));
  __m512i a = _mm512_set1_epi32(0x12345678),
          b = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  for (int i = 0; i < 20000; i++) a = mix(a, b, (__mmask16)(i * 2654435761u >> 16));
  printf("%x %d\n", (unsigned)_mm512_reduce_add_epi32(a), _mm_popcnt_u32(_mm512_cmpgt_epi32_mask(a, b)));
  static int memory[1024];
  for (int i = 0; i < 1024; i++) memory[i] = i * i;
  __m512i index = _mm512_mullo_epi32(b, _mm512_set1_epi32(61));
  __m512i gathered = _mm512_i32gather_epi32(index, memory, 4);
  _mm512_mask_i32scatter_epi32(memory, 0x5555, index, _mm512_set1_epi32(-1), 4);
  int minus = 0;
  for (int i = 0; i < 1024; i++) minus += memory[i] == -1;
  printf("%d %d\n", _mm512_reduce_add_epi32(gathered), minus);
  EXPECT_EQ(minus, 8);
  int packed[16] = {0};
  _mm512_mask_compressstoreu_epi32(packed, 0xaaaa, b);
  printf("%d %d %d\n", packed[0], packed[7], packed[8]);
  __m512i conflicts = _mm512_conflict_epi32(_mm512_set1_epi32(3));
  printf("%x\n", (unsigned)_mm512_reduce_add_epi32(conflicts));
  __m512d reals = _mm512_set1_pd(2.0);
  for (int i = 0; i < 100; i++)
    reals = _mm512_fmadd_round_pd(reals, _mm512_set1_pd(0.9), _mm512_set1_pd(0.3),
                                  _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
  printf("%.12f\n", _mm512_reduce_add_pd(reals));
  // Embedded broadcast and fault suppression by masks: the masked-out lanes lie in unmapped memory.
  __m256i low = _mm256_maskz_loadu_epi32(0, (void*)16);
  EXPECT_EQ(_mm256_extract_epi32(low, 0), 0);
  return guest_result();
}
