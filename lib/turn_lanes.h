/* turn_lanes - the arithmetic of turn's kernels, once for every instruction set.
 *
 * A kernel file defines LANES (2, 4 or 8 doubles a vector) and HAVE_FMA, includes this, defines
 * the four functions below that instruction sets do in their own way, and a struct
 * pe_turn_kernel by KERNEL. Vectors are those of gcc and clang.
 *
 * u = 2^-53. Products and sums of wide numbers follow Dekker 1971 and Knuth (TAOCP 2, 4.2.2);
 * their errors stand in Joldes, Muller and Popescu 2017 (ACM TOMS 44(2)): a few u^2, whether the
 * product is fused or split. */
#include <string.h>

#include "turn_kernel.h"

#define INLINE static inline __attribute__((always_inline))
#define VECTOR(type) __attribute__((vector_size(LANES * sizeof(type)))) type

typedef VECTOR(double) vec;
typedef VECTOR(int64_t) ivec;
typedef VECTOR(float) fvec;
typedef VECTOR(uint32_t) uvec;

INLINE vec madd(vec a, vec b, vec c); /* a * b + c, fused if HAVE_FMA */
INLINE uvec halve(fvec x);            /* x, no tie, rounded to binary16 */
INLINE ivec mark_f64(ivec undecided, ivec upper, ivec lower);
INLINE uvec mark(uvec undecided, uvec upper, uvec lower); /* undecided | (upper ^ lower) */

INLINE vec
load(const double *from)
{
	vec v;

	memcpy(&v, from, sizeof v);
	return v;
}

INLINE void
save(double *to, vec v)
{
	memcpy(to, &v, sizeof v);
}

INLINE vec
all(double x)
{
	return x - (vec){0};
}

/* ---- wide arithmetic ---- */

struct wide {
	vec h, l;
};

INLINE struct wide
load_wide(const double *h, const double *l)
{
	return (struct wide){load(h), load(l)};
}

INLINE struct wide
all_wide(double h, double l)
{
	return (struct wide){all(h), all(l)};
}

/* a + b exactly, given |a| >= |b| or a = 0 */
INLINE struct wide
join(vec a, vec b)
{
	const vec h = a + b;

	return (struct wide){h, b - (h - a)};
}

/* a + b exactly */
INLINE struct wide
sum(vec a, vec b)
{
	const vec h = a + b, t = h - a;

	return (struct wide){h, (a - (h - t)) + (b - t)};
}

/* a - b exactly */
INLINE struct wide
difference(vec a, vec b)
{
	const vec h = a - b, t = h - a;

	return (struct wide){h, (a - (h - t)) - (b + t)};
}

/* a * b exactly; without fma the halves of Veltkamp's splitting are multiplied, for |a|, |b| <
 * 2^995 */
INLINE struct wide
product(vec a, vec b)
{
	const vec h = a * b;
#if HAVE_FMA
	return (struct wide){h, madd(a, b, -h)};
#else
	const vec ta = a * 0x1p27 + a, tb = b * 0x1p27 + b;
	const vec ah = ta - (ta - a), bh = tb - (tb - b), al = a - ah, bl = b - bh;

	return (struct wide){h, ((ah * bh - h) + ah * bl + al * bh) + al * bl};
#endif
}

/* a * b, error 5 u^2; not normalised */
INLINE struct wide
times(struct wide a, struct wide b)
{
	const struct wide p = product(a.h, b.h);

	return (struct wide){p.h, madd(a.l, b.h, madd(a.h, b.l, p.l))};
}

/* a + b, given |a.h| >= |b.h| or a = 0 */
INLINE struct wide
plus(struct wide a, struct wide b)
{
	const struct wide s = join(a.h, b.h);

	return (struct wide){s.h, s.l + (a.l + b.l)};
}

/* a b + c d: both products and their sum to u^2, in all below 2^-102 (|a b| + |c d|); not
 * normalised */
INLINE struct wide
cross(struct wide a, struct wide b, struct wide c, struct wide d)
{
	const struct wide p = times(a, b), q = times(c, d);
	const struct wide s = sum(p.h, q.h);

	return (struct wide){s.h, s.l + (p.l + q.l)};
}

/* a b - c d */
INLINE struct wide
cross_less(struct wide a, struct wide b, struct wide c, struct wide d)
{
	const struct wide p = times(a, b), q = times(c, d);
	const struct wide s = difference(p.h, q.h);

	return (struct wide){s.h, s.l + (p.l - q.l)};
}

/* ---- sine and cosine of a phase ---- */

/* n = sin x and m = cos x - 1 for |x| <= 2 pi / 512 = 2^-6.3, by Taylor's series. Let q = x^2 <=
 * 2^-12.7. The parts in plain doubles start at x^7 and x^6: q^3/5040 and q^3/720 carry an error
 * of 2 u, that is 2^-102 of n and 2^-99 of 1; the first terms left out are q^7/15! < 2^-128 of n
 * and q^7/14! < 2^-124. The rest is wide. So n errs by 2^-100 |n|, and m by 2^-98.8 |m|, m
 * itself being below 2^-13.6. */
INLINE void
small_turn(struct wide x, struct wide *n, struct wide *m)
{
	const struct wide q = times(x, x);
	vec odd = all(0x1.6124613a86d09p-33), even = all(0x1.1eed8eff8d898p-29); /* 1/13!, 1/12! */

	odd = madd(q.h, odd, all(-0x1.ae64567f544e4p-26));   /* -1/11! */
	even = madd(q.h, even, all(-0x1.27e4fb7789f5cp-22)); /* -1/10! */
	odd = madd(q.h, odd, all(0x1.71de3a556c734p-19));    /* 1/9! */
	even = madd(q.h, even, all(0x1.a01a01a01a01ap-16));  /* 1/8! */
	odd = madd(q.h, odd, all(-0x1.a01a01a01a01ap-13));   /* -1/7! */
	even = madd(q.h, even, all(-0x1.6c16c16c16c17p-10)); /* -1/6! */

	struct wide s = plus(all_wide(0x1.1111111111111p-7, 0x1.1111111111111p-63), /* 1/5! */
			     (struct wide){q.h * odd, all(0)});
	struct wide c = plus(all_wide(0x1.5555555555555p-5, 0x1.5555555555555p-59), /* 1/4! */
			     (struct wide){q.h * even, all(0)});
	s = plus(all_wide(-0x1.5555555555555p-3, -0x1.5555555555555p-57), times(q, s)); /* -1/3! */
	c = plus(all_wide(-0.5, 0), times(q, c));
	*n = plus(x, times(x, times(q, s)));
	*m = times(q, c);
}

/* The entry turned by x: S + (S m + C n) and C + (C m - S n). S is 0, or at least twice what is
 * added. */
static void
seed(struct pe_turn_wide *out, const struct pe_turn_phase *phase, size_t lanes,
     const double gain[2])
{
	const struct wide turn = all_wide(0x1.921fb54442d18p+2, 0x1.1a62633145c07p-52); /* 2 pi */
	const struct wide g = all_wide(gain[0], gain[1]);

	for (size_t i = 0; i < lanes; i += LANES) {
		const struct wide S = load_wide(phase->entry[0] + i, phase->entry[1] + i);
		const struct wide C = load_wide(phase->entry[2] + i, phase->entry[3] + i);
		struct wide n, m;

		small_turn(times(load_wide(phase->high + i, phase->low + i), turn), &n, &m);
		struct wide s = plus(S, cross(S, m, C, n));
		struct wide c = plus(C, cross_less(C, m, S, n));
		if (gain[0] != 1 || gain[1] != 0) {
			s = times(s, g);
			c = times(c, g);
		}
		s = join(s.h, s.l);
		c = join(c.h, c.l);
		save(out->sh + i, s.h);
		save(out->sl + i, s.l);
		save(out->ch + i, c.h);
		save(out->cl + i, c.l);
	}
}

/* ---- rotation: sin(a + b) = sin a cos b + cos a sin b, cos(a + b) = cos a cos b - sin a sin b
 * ---- */

struct pair {
	struct wide s, c;
};

INLINE struct pair
load_pair(const struct pe_turn_wide *w, size_t i)
{
	return (struct pair){load_wide(w->sh + i, w->sl + i), load_wide(w->ch + i, w->cl + i)};
}

static void
turn_wide(struct pe_turn_wide *w, const struct pe_turn_wide *r, size_t lanes)
{
	for (size_t i = 0; i < lanes; i += LANES) {
		const struct pair a = load_pair(w, i), b = load_pair(r, i);
		struct wide s = cross(a.s, b.c, a.c, b.s), c = cross_less(a.c, b.c, a.s, b.s);

		s = join(s.h, s.l);
		c = join(c.h, c.l);
		save(w->sh + i, s.h);
		save(w->sl + i, s.l);
		save(w->ch + i, c.h);
		save(w->cl + i, c.l);
	}
}

/* Error: u for each rounded entry of r, at most 2 u for product and sum: 2^-51 (|s c| + |c s|) */
static void
turn_high(struct pe_turn_wide *w, const struct pe_turn_wide *r, size_t lanes)
{
	for (size_t i = 0; i < lanes; i += LANES) {
		const vec s = load(w->sh + i), c = load(w->ch + i);
		const vec rs = load(r->sh + i), rc = load(r->ch + i);

		save(w->sh + i, madd(c, rs, s * rc));
		save(w->ch + i, madd(-s, rs, c * rc));
	}
}

/* ---- rows: turn, round at both ends of the error bound, compare (Ziv 1991), store ---- */

INLINE bool
any_f64(ivec v)
{
	int64_t any = 0;

	for (size_t k = 0; k < LANES; k++)
		any |= v[k];
	return any != 0;
}

INLINE bool
any_f32(uvec v)
{
	uint32_t any = 0;

	for (size_t k = 0; k < LANES; k++)
		any |= v[k];
	return any != 0;
}

#define any_f16 any_f32
#define any_bf16 any_f32

/* What rounds to the same at both ends of x +- slack leaves no mark. */
INLINE vec
round_f64(struct wide x, vec slack, ivec *undecided)
{
	const vec upper = x.h + (x.l + slack), lower = x.h + (x.l - slack);

	*undecided = mark_f64(*undecided, (ivec)upper, (ivec)lower);
	return upper;
}

INLINE fvec
round_f32(vec upper, vec lower, uvec *undecided)
{
	const fvec up = __builtin_convertvector(upper, fvec),
		   low = __builtin_convertvector(lower, fvec);

	*undecided = mark(*undecided, (uvec)up, (uvec)low);
	return up;
}

/* Cut to 24 bits with the last one set: on the same side of every number of 23 bits as before,
 * so rounding to 11 or 8 bits comes out right. An end that is such a number itself counts as
 * above it, and so does the real number if it is the lower end. */
INLINE fvec
cut_odd(vec x)
{
	const ivec last = (INT64_C(1) << 29) + (ivec){0};

	return __builtin_convertvector((vec)(((ivec)x | last) & -last), fvec);
}

INLINE uvec
round_f16(vec upper, vec lower, uvec *undecided)
{
	const uvec up = halve(cut_odd(upper)), low = halve(cut_odd(lower));

	*undecided = mark(*undecided, up, low);
	return up;
}

/* An odd last bit is never a tie: adding a half and cutting rounds to nearest. */
INLINE uvec
round_bf16(vec upper, vec lower, uvec *undecided)
{
	const uvec up = ((uvec)cut_odd(upper) + 0x8000) >> 16,
		   low = ((uvec)cut_odd(lower) + 0x8000) >> 16;

	*undecided = mark(*undecided, up, low);
	return up;
}

/* What one vector of pairs keeps from row to row: the anchor, and the bounds of its turned values. */
struct held_f64 {
	struct pair a;
	vec slack, slack_cosine;
};

INLINE struct held_f64
hold_f64(const struct pe_turn_job *j, size_t i)
{
	return (struct held_f64){load_pair(j->anchor, i), load(j->slack + i), all(j->slack_cosine)};
}

/* The anchor's lanes i turned by by's and rounded. */
INLINE void
make_f64(struct held_f64 held, const struct pe_turn_wide *by, size_t i, vec out[2], ivec *undecided)
{
	const struct pair a = held.a, b = load_pair(by, i);

	out[0] = round_f64(cross(a.s, b.c, a.c, b.s), held.slack, undecided);
	out[1] = round_f64(cross_less(a.c, b.c, a.s, b.s), held.slack_cosine, undecided);
}

struct held {
	vec s, c, slack, spread, slack_cosine, spread_cosine;
};

INLINE struct held
hold(const struct pe_turn_job *j, size_t i)
{
	return (struct held){load(j->anchor->sh + i), load(j->anchor->ch + i),
			     load(j->slack + i),      load(j->spread + i),
			     all(j->slack_cosine),    all(2 * j->slack_cosine)};
}

#define MAKE_NARROW(elem, lanes)                                                           \
	INLINE void make_##elem(struct held held, const struct pe_turn_wide *by, size_t i, \
				lanes out[2], uvec *undecided)                             \
	{                                                                                  \
		const vec rs = load(by->sh + i), rc = load(by->ch + i);                    \
		const vec sine = madd(held.c, rs, madd(held.s, rc, held.slack)),           \
			  cosine = madd(-held.s, rs, madd(held.c, rc, held.slack_cosine)); \
                                                                                           \
		out[0] = round_##elem(sine, sine - held.spread, undecided);                \
		out[1] = round_##elem(cosine, cosine - held.spread_cosine, undecided);     \
	}
MAKE_NARROW(f32, fvec)
MAKE_NARROW(f16, uvec)
MAKE_NARROW(bf16, uvec)

/* LANES values one after the other */
INLINE void
lay_f64(double *to, vec v)
{
	memcpy(to, &v, sizeof v);
}

INLINE void
lay_f32(float *to, fvec v)
{
	memcpy(to, &v, sizeof v);
}

INLINE void
lay_f16(uint16_t *to, uvec v)
{
	for (size_t k = 0; k < LANES; k++)
		to[k] = (uint16_t)v[k];
}

/* and LANES of the first alternating with LANES of the second: the lower half of them, and the
 * upper */
#if LANES == 8
#define LOWER 0, 8, 1, 9, 2, 10, 3, 11
#define UPPER 4, 12, 5, 13, 6, 14, 7, 15
#elif LANES == 4
#define LOWER 0, 4, 1, 5
#define UPPER 2, 6, 3, 7
#else
#define LOWER 0, 2
#define UPPER 1, 3
#endif

#if defined(__clang__) || __GNUC__ >= 12
#define SHUFFLE(places, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLE(places, a, b, ...) __builtin_shuffle(a, b, (places){__VA_ARGS__})
#endif

INLINE void
zip_f64(double *to, vec first, vec second)
{
	lay_f64(to, SHUFFLE(ivec, first, second, LOWER));
	lay_f64(to + LANES, SHUFFLE(ivec, first, second, UPPER));
}

INLINE void
zip_f32(float *to, fvec first, fvec second)
{
	lay_f32(to, SHUFFLE(uvec, first, second, LOWER));
	lay_f32(to + LANES, SHUFFLE(uvec, first, second, UPPER));
}

INLINE void
zip_f16(uint16_t *to, uvec first, uvec second)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	const uvec both = first << 16 | second;
#else
	const uvec both = first | second << 16;
#endif
	memcpy(to, &both, sizeof both);
}

#define lay_bf16 lay_f16
#define zip_bf16 zip_f16

/* The loop over lanes and rows for one element: what turns them is read once for a vector of lanes,
 * and a vector of pairs fills whole lines of memory. A last vector that is not wholly wanted, and
 * a layout in which neither members nor lanes are neighbours, go value by value. */
#define ROWS(elem, type, lanes, bits, holding, take)                                           \
	INLINE void some_##elem(type *to, size_t i, lanes v, const struct pe_turn_job *j,      \
				size_t count)                                                  \
	{                                                                                      \
		if (j->step == 1 && i + LANES <= count) {                                      \
			lay_##elem(to + i, v);                                                 \
			return;                                                                \
		}                                                                              \
		type value[LANES];                                                             \
		lay_##elem(value, v);                                                          \
		for (size_t k = 0; k < LANES && i + k < count; k++)                            \
			to[(i + k) * j->step] = value[k];                                      \
	}                                                                                      \
                                                                                               \
	INLINE unsigned with_##elem(const struct pe_turn_job *given, bool zipped, int first)   \
	{                                                                                      \
		const struct pe_turn_job own = *given, *j = &own; /* no store can alias it */  \
		const size_t both = j->sines < j->cosines ? j->sines : j->cosines;             \
		const size_t zips = both < j->end ? both : j->end;                             \
		type *const sine = j->sine, *const cosine = j->cosine;                         \
		type *const pair = first == 0 ? sine : cosine;                                 \
		unsigned open = 0;                                                             \
		size_t i = j->begin;                                                           \
		lanes v[2];                                                                    \
                                                                                               \
		for (; zipped && i + LANES <= zips; i += LANES) {                              \
			const holding held = take(j, i);                                       \
			bits undecided = {0};                                                  \
			for (size_t k = 0; k < j->rows; k++) {                                 \
				make_##elem(held, &j->by[k], i, v, &undecided);                \
				zip_##elem(pair + k * j->row + 2 * i, v[first], v[1 - first]); \
			}                                                                      \
			open |= (unsigned)any_##elem(undecided) << i / PE_TURN_WIDTH;          \
		}                                                                              \
		for (; i < j->end; i += LANES) {                                               \
			const holding held = take(j, i);                                       \
			bits undecided = {0};                                                  \
			for (size_t k = 0; k < j->rows; k++) {                                 \
				make_##elem(held, &j->by[k], i, v, &undecided);                \
				some_##elem(sine + k * j->row, i, v[0], j, j->sines);          \
				some_##elem(cosine + k * j->row, i, v[1], j, j->cosines);      \
			}                                                                      \
			open |= (unsigned)any_##elem(undecided) << i / PE_TURN_WIDTH;          \
		}                                                                              \
		return open;                                                                   \
	}                                                                                      \
                                                                                               \
	static unsigned rows_##elem(const struct pe_turn_job *j)                               \
	{                                                                                      \
		if (!j->zipped)                                                                \
			return with_##elem(j, false, 0);                                       \
		return j->cosine_first ? with_##elem(j, true, 1) : with_##elem(j, true, 0);    \
	}
ROWS(f64, double, vec, ivec, struct held_f64, hold_f64)
ROWS(f32, float, fvec, uvec, struct held, hold)
ROWS(f16, uint16_t, uvec, uvec, struct held, hold)
ROWS(bf16, uint16_t, uvec, uvec, struct held, hold)

#define KERNEL(text, check)                                                         \
	{                                                                           \
		.name = text, .runs = check, .seed = seed, .turn_wide = turn_wide,  \
		.turn_high = turn_high, .rows_f64 = rows_f64, .rows_f32 = rows_f32, \
		.rows_f16 = rows_f16, .rows_bf16 = rows_bf16,                       \
	}
