/* turn_hard - looks for values that lie next to a midpoint of an element, where rounding is hardest to decide.
 *
 *     cc -iquote lib -o turn_hard tests/generate/turn_hard.c build/lib/libposenc.a -lmpfr -lgmp -lm
 *     ./turn_hard MILLIONS >tests/data/turn_hard.tsv
 *
 * Rows of tables at random places are made to 96 bits (pe_turn_wide_at); for each element the values nearest to
 * a midpoint of two neighbours are kept, the nearest first: element, base, d, pair, position, member, and the distance
 * in units of the last place as a power of two. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "freq.h"
#include "turn.h"

enum { KEPT = 40, PAIRS = 1000, ROWS = 2000 };

struct found {
	double base, position, distance;
	size_t dim, pair;
	int member;
};

struct search {
	const char *name;
	int bits;     /* of the significand */
	double least; /* of the normal numbers */
	struct found best[KEPT];
};

static uint64_t
next(uint64_t *state) /* splitmix64 */
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static void
omega(const void *context, size_t i, mpfr_ptr x)
{
	pe_freq_omega(context, i, x);
}

/* Distance of |x| from the nearest midpoint of neighbours of `bits` bits, in units of their last place. */
static double
distance(const double x[2], int bits)
{
	uint64_t pattern;
	double ulp;

	memcpy(&pattern, &x[0], sizeof pattern);
	ulp = ldexp(1, (int)(pattern >> 52 & 0x7ff) - 1023 - 52);
	const double low = x[0] < 0 ? -x[1] / ulp : x[1] / ulp;
	if (bits == 53)
		return 0.5 - fabs(low);
	const uint64_t half = UINT64_C(1) << (52 - bits), rest = pattern & (2 * half - 1);
	return fabs((double)((int64_t)rest - (int64_t)half) + low) / (double)(2 * half);
}

static void
keep(struct search *s, const struct found *f)
{
	size_t k = KEPT - 1;

	for (size_t n = 0; n < KEPT; n++) /* the same row may come twice */
		if (s->best[n].distance == f->distance && s->best[n].position == f->position)
			return;
	for (; k > 0 && s->best[k - 1].distance > f->distance; k--)
		s->best[k] = s->best[k - 1];
	s->best[k] = *f;
}

static void
look(struct search searches[4], const double x[2], struct found f)
{
	for (size_t e = 0; e < 4; e++) {
		struct search *s = &searches[e];
		if (fabs(x[0]) < s->least)
			continue;
		f.distance = distance(x, s->bits);
		if (f.distance < s->best[KEPT - 1].distance)
			keep(s, &f);
	}
}

static void
look_through(struct search searches[4], const struct pe_freq *freq, double first)
{
	static double sine[PAIRS][2], cosine[PAIRS][2];
	const struct pe_turn_source source = {
	    .pairs = freq->pairs, .omega = omega, .context = freq};
	struct pe_turn *plan;
	struct pe_error e;

	if (pe_turn_init(&plan, &source, &e))
		exit(1);
	for (size_t r = 0; r < ROWS; r++) {
		struct found f = {
		    .base = freq->base, .position = first + (double)r, .dim = 2 * freq->pairs};
		pe_turn_wide_at(plan, 0, freq->pairs, f.position, sine, cosine);
		for (f.pair = 0; f.pair < freq->pairs; f.pair++) {
			f.member = 0;
			look(searches, sine[f.pair], f);
			f.member = 1;
			look(searches, cosine[f.pair], f);
		}
	}
	pe_turn_free(plan);
}

int
main(int argc, char **argv)
{
	static const double bases[] = {1.5, 100, 10000, 500000, 1e6};
	static const size_t dims[] = {2, 4, 64, 128, 512, 1000};
	static struct search searches[4] = {
	    {.name = "f64", .bits = 53, .least = 0x1p-1022},
	    {.name = "f32", .bits = 24, .least = 0x1p-126},
	    {.name = "f16", .bits = 11, .least = 0x1p-14},
	    {.name = "bf16", .bits = 8, .least = 0x1p-126},
	};
	const double values = 1e6 * (argc > 1 ? strtod(argv[1], NULL) : 100);
	uint64_t random = 1;

	for (size_t e = 0; e < 4; e++)
		for (size_t k = 0; k < KEPT; k++)
			searches[e].best[k].distance = 1;
	for (double done = 0; done < values;) {
		const struct pe_freq freq = {
		    .base = bases[next(&random) % 5],
		    .pairs = dims[next(&random) % 6] / 2,
		};
		struct pe_freq f = freq;
		f.half = (double)freq.pairs;
		look_through(searches, &f,
			     1 + (double)(next(&random) >> (12 + next(&random) % 50)));
		done += 2.0 * ROWS * (double)freq.pairs;
	}
	printf("# element, base, d, pair, position, member, distance from a midpoint in units of "
	       "the last place;\n"
	       "# found by tests/generate/turn_hard.c among %g million values\n",
	       values / 1e6);
	for (size_t e = 0; e < 4; e++)
		for (size_t k = 0; k < KEPT; k++) {
			const struct found *f = &searches[e].best[k];
			printf("%s\t%g\t%zu\t%zu\t%.17g\t%s\t2^%.1f\n", searches[e].name, f->base,
			       f->dim, f->pair, f->position, f->member ? "cosine" : "sine",
			       log2(f->distance));
		}
	return 0;
}
