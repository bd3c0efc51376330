/* turn_base - turn's kernel for any machine: two doubles a vector, as SSE2 and NEON have them. */
#define LANES 2
#ifdef __FP_FAST_FMA
#define HAVE_FMA 1
#else
#define HAVE_FMA 0
#endif
#include "turn_lanes.h"

INLINE vec
madd(vec a, vec b, vec c)
{
#if HAVE_FMA
	return (vec){__builtin_fma(a[0], b[0], c[0]), __builtin_fma(a[1], b[1], c[1])};
#else
	return a * b + c;
#endif
}

INLINE ivec
mark_f64(ivec undecided, ivec upper, ivec lower)
{
	return undecided | (upper ^ lower);
}

INLINE uvec
mark(uvec undecided, uvec upper, uvec lower)
{
	return undecided | (upper ^ lower);
}

/* x is a float with an odd last bit, never a tie: adding half a unit and cutting rounds to
 * nearest. Below 2^-14 the unit is that of 0.5 in a float. */
INLINE uvec
halve(fvec x)
{
	const uvec magnitude = (uvec)x & 0x7fffffff, sign = (uvec)x >> 16 & 0x8000;
	const uvec normal = ((magnitude + 0x1000) >> 13) - (112 << 10);
	const uvec small = (uvec)((fvec)magnitude + 0.5f) - 0x3f000000;
	const uvec is_small = (uvec)(magnitude < 0x38800000);
	const uvec is_huge = (uvec)(magnitude >= 0x477ff000); /* 65520 and more */

	return sign | (((small & is_small) | (normal & ~is_small)) & ~is_huge) | (is_huge & 0x7c00);
}

static bool
always(void)
{
	return true;
}

const struct pe_turn_kernel pe_turn_base = KERNEL("base", always);
