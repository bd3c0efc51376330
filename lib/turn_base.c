/* turn_base - turn's kernel for any machine: two doubles a vector, as SSE2 and NEON have them. */
#define LANES 2
#ifdef __FP_FAST_FMA
#define HAVE_FMA 1
#else
#define HAVE_FMA 0
#endif
#include "turn_lanes.h"

#include "elem.h"

INLINE vec
madd(vec a, vec b, vec c)
{
#if HAVE_FMA
	return (vec){__builtin_fma(a[0], b[0], c[0]), __builtin_fma(a[1], b[1], c[1])};
#else
	return a * b + c;
#endif
}

INLINE uvec
halve(fvec x)
{
	return (uvec){pe_f16_round((double)x[0]), pe_f16_round((double)x[1])};
}

static bool
always(void)
{
	return true;
}

const struct pe_turn_kernel pe_turn_base = KERNEL("base", always);
