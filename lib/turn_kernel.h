/* turn_kernel - the engine room of turn: what its parts give each other, one instruction set at
 * a time.
 *
 * Not for users of turn.h. The unit test and the benchmark force a kernel with pe_turn_use. All
 * kernels write the same bytes although their intermediate arithmetic differs: a kernel only
 * stores what its error bound decides, and says where it could not decide.
 *
 * A wide number is the unevaluated sum of two doubles, |low| <= ulp(high) (Dekker 1971).
 *
 * The errors, for gain 1, t the position, u = 2^-53; each stands with its reason at the step:
 *   step       2^-192 turns a position: below one unit of the last of three words behind the point (turn_phase.c)
 *   phase      2^-191 |t| turns, 2^-188.3 |t| radians, and 2^-105 of itself where it is cut to a wide number
 *   seed       2^-97 of the sine and of the cosine (small_turn; 2^-98.2 is the worst that was seen)
 *   rotation   4.6 u a turn in single arithmetic, 2^-101.5 in wide arithmetic (cross)
 *   rows       127 times the rotation by one row, whose seed is the greater part: 2^-47 and 2^-89.9 (struct method)
 * A kernel decides by 2^-47 and 2^-88 of the largest sine that the anchor's rows can reach, plus
 * 2^-186 |t|; what it leaves is decided by 2^-96 from a seed of its own, and then by MPFR. */
#ifndef PE_TURN_KERNEL_H
#define PE_TURN_KERNEL_H

#include "turn.h"

/* LANES pairs are worked on together, and looked through by WIDTH, a multiple of every vector's
 * width. From an exact anchor row to the next there are SPAN rows. SPAN / GROUP anchors come by
 * rotation from the exact one, and GROUP rows by one rotation each from an anchor. */
enum { PE_TURN_LANES = 64, PE_TURN_WIDTH = 8, PE_TURN_GROUP = 16, PE_TURN_SPAN = 128 };

/* j/256 of a turn: high and low of its sine, high and low of its cosine. */
extern const double pe_turn_table[256][4];

/* A turn less its whole part and less the nearest entry of the table; the entry beside it. */
struct pe_turn_phase {
	_Alignas(64) double high[PE_TURN_LANES], low[PE_TURN_LANES]; /* turns, |high| <= 2^-9 */
	double entry[4][PE_TURN_LANES];                              /* as in the table */
};

/* Sines and cosines of a row of pairs. */
struct pe_turn_wide {
	_Alignas(64) double sh[PE_TURN_LANES], sl[PE_TURN_LANES], ch[PE_TURN_LANES],
	    cl[PE_TURN_LANES];
};

/* Rows to be made: row k is the anchor turned by by[k], k = 0 .. rows - 1. */
struct pe_turn_job {
	const struct pe_turn_wide *anchor, *by;
	size_t rows;
	size_t begin, end;         /* lanes; begin is a multiple of 8 */
	const double *slack;       /* error bound of each lane's sine, */
	const double *spread;      /* twice that, */
	double slack_cosine;       /* of every cosine */
	void *sine, *cosine;       /* where lane 0 of row 0 goes; one may be unused */
	size_t sines, cosines;     /* lanes below this are written */
	size_t step, row;          /* elements from lane to lane, from row to row */
	bool zipped, cosine_first; /* sine and cosine lie side by side, in which order */
};

struct pe_turn_kernel {
	const char *name;
	bool (*runs)(void); /* does this machine have the instructions? */

	/* gain * (sine, cosine) of the phases. Relative error of either below 2^-97, given
	 * |high| <= 2^-9. */
	void (*seed)(struct pe_turn_wide *out, const struct pe_turn_phase *phase, size_t lanes,
		     const double gain[2]);

	/* w turned by r. Error of the sine: 2^-102 (|w.s r.c| + |w.c r.s|), or with the high
	 * parts alone 3 u times that; of the cosine likewise. */
	void (*turn_wide)(struct pe_turn_wide *w, const struct pe_turn_wide *r, size_t lanes);
	void (*turn_high)(struct pe_turn_wide *w, const struct pe_turn_wide *r, size_t lanes);

	/* Writes rows. Bit g is set where some value of the lanes from WIDTH g stays undecided;
	 * then the bytes of those WIDTH lanes are no matter. */
	unsigned (*rows_f64)(const struct pe_turn_job *job);
	unsigned (*rows_f32)(const struct pe_turn_job *job);
	unsigned (*rows_f16)(const struct pe_turn_job *job);
	unsigned (*rows_bf16)(const struct pe_turn_job *job);
};

/* v3 and v4 exist on x86-64 alone. */
extern const struct pe_turn_kernel pe_turn_base, pe_turn_v3, pe_turn_v4;

/* Kernel number k, best first, of those built in: NULL behind the last. A machine may lack what
 * the first ones need. */
const struct pe_turn_kernel *pe_turn_kernel_at(size_t k);

/* Makes a plan use this kernel from now on. */
void pe_turn_use(struct pe_turn *plan, const struct pe_turn_kernel *kernel);

/* ---- positions and steps in fixed point: turn_phase.c ---- */

/* A real step in turns per position: +-(word[0] 2^192 + ... + word[3]) 2^-(192 + shift), |error|
 * <= 2^-(192 + shift). The shift is 0 unless the step is below 2^-54; then step 2^shift lies in
 * [2^-55, 2^-54). */
struct pe_turn_step {
	uint64_t word[4];
	int shift;
	bool negative;
	bool exact; /* no error at all */
};

/* +-digits 2^exponent, exponent <= 0; from -64 to -1 also as whole + part 2^-64. */
struct pe_turn_position {
	uint64_t digits, whole, part;
	int exponent;
	bool negative;
};

enum { PE_TURN_STEP_BITS = 208 }; /* precision that a step below 1 needs */

/* False if |x| >= 2^63, where the fixed point does not reach. exact: x is the step itself, not
 * rounded. */
bool pe_turn_step_set(struct pe_turn_step *step, mpfr_srcptr x, bool exact);

/* |x| < 2^63, finite. */
struct pe_turn_position pe_turn_position_of(double x);
struct pe_turn_position pe_turn_position_of_integer(int64_t x);

/* Phases of n pairs at one position into lanes 0 .. n - 1; lanes up to the next multiple of 8
 * become zero turns. Error: |position| 2^-(191 + shift) turns, and 2^-105 relative. */
void pe_turn_phases(struct pe_turn_phase *phase, const struct pe_turn_step *step, size_t n,
		    struct pe_turn_position position);

/* One lane. True if the turn is an entry of the table, exactly. */
bool pe_turn_phase_set(struct pe_turn_phase *phase, size_t lane, const struct pe_turn_step *step,
		       struct pe_turn_position position);
void pe_turn_phase_pad(struct pe_turn_phase *phase, size_t n);

/* ---- any precision: turn_exact.c ---- */

/* The angle scale * omega_i * position rounded to the source's angle element, as a double. */
double pe_turn_exact_angle(const struct pe_turn_source *source, size_t i, double position);

/* Bit patterns of the sine and the cosine, rounded once to elem. Either may be NULL. */
void pe_turn_exact(const struct pe_turn_source *source, size_t i, double position,
		   enum pe_elem elem, uint64_t *sine, uint64_t *cosine);

/* gain * (sine, cosine) as wide numbers, relative error below 2^-104. */
void pe_turn_exact_wide(const struct pe_turn_source *source, size_t i, double position,
			double sine[2], double cosine[2]);

/* x, omega_i as the source gives it, becomes the rate in radians: scale * omega_i. */
void pe_turn_exact_rate(const struct pe_turn_source *source, mpfr_ptr x);

/* x, omega_i as the source gives it, becomes the step in turns: scale * omega_i, over 2 pi if in
 * radians. True if the step is known to be exact. */
bool pe_turn_exact_step(const struct pe_turn_source *source, size_t i, mpfr_ptr x);

#endif
