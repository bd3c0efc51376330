/* decimal_core - powers of ten, and whole numbers of any size that a float's decimals need. */
#include "decimal_core.h"

const struct pe_uint128 pe_powers10[] = {
#include "decimal_powers.h"
};

const uint64_t pe_small_powers10[20] = {
    UINT64_C(1),
    UINT64_C(10),
    UINT64_C(100),
    UINT64_C(1000),
    UINT64_C(10000),
    UINT64_C(100000),
    UINT64_C(1000000),
    UINT64_C(10000000),
    UINT64_C(100000000),
    UINT64_C(1000000000),
    UINT64_C(10000000000),
    UINT64_C(100000000000),
    UINT64_C(1000000000000),
    UINT64_C(10000000000000),
    UINT64_C(100000000000000),
    UINT64_C(1000000000000000),
    UINT64_C(10000000000000000),
    UINT64_C(100000000000000000),
    UINT64_C(1000000000000000000),
    UINT64_C(10000000000000000000),
};

void
pe_natural_set(struct pe_natural *n, uint64_t x)
{
	n->limbs = 0;
	for (; x != 0; x >>= 32)
		n->limb[n->limbs++] = (uint32_t)x;
}

void
pe_natural_multiply_add(struct pe_natural *n, uint32_t factor, uint32_t term)
{
	uint64_t carry = term;

	for (int i = 0; i < n->limbs; i++) {
		carry += (uint64_t)n->limb[i] * factor;
		n->limb[i] = (uint32_t)carry;
		carry >>= 32;
	}
	if (carry != 0)
		n->limb[n->limbs++] = (uint32_t)carry;
}

static void
multiply_power5(struct pe_natural *n, int power)
{
	for (; power >= 13; power -= 13)
		pe_natural_multiply_add(n, 1220703125, 0); /* 5^13 < 2^32 */
	for (; power > 0; power--)
		pe_natural_multiply_add(n, 5, 0);
}

static void
multiply_power2(struct pe_natural *n, int power)
{
	const int whole = power / 32;

	pe_natural_multiply_add(n, UINT32_C(1) << power % 32, 0);
	memmove(n->limb + whole, n->limb, (size_t)n->limbs * sizeof *n->limb);
	memset(n->limb, 0, (size_t)whole * sizeof *n->limb);
	n->limbs += whole;
}

static int
compare(const struct pe_natural *a, const struct pe_natural *b)
{
	if (a->limbs != b->limbs)
		return a->limbs < b->limbs ? -1 : 1;
	for (int i = a->limbs; i-- > 0;)
		if (a->limb[i] != b->limb[i])
			return a->limb[i] < b->limb[i] ? -1 : 1;
	return 0;
}

int
pe_natural_compare(struct pe_natural *a, int p, uint64_t b, int q)
{
	struct pe_natural other;

	/* a 5^p 2^p against b 2^q: negative powers go to the other side */
	pe_natural_set(&other, b);
	multiply_power5(p >= 0 ? a : &other, p >= 0 ? p : -p);
	if (p >= q)
		multiply_power2(a, p - q);
	else
		multiply_power2(&other, q - p);
	return compare(a, &other);
}
