// Rip-relative operands of EVEX instructions beside all others.
// @needs: avx2 fma bmi2 movbe avx512f avx512bw
#define WITH_EVEX
#include "rip_relative.S"
