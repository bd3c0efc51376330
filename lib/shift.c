/* shift - the matrix M_k that moves a sinusoidal row by k positions. */
#include "shift.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "num.h"

struct pe_shift {
	struct pe_columns columns;
	enum pe_elem elem;
	/* gain * sin wk, gain * cos wk, -gain * sin wk: one of each pair */
	void *sines, *cosines, *negated;
};

static void
negate(enum pe_elem elem, void *values, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		switch (elem) {
		case PE_F64: ((double *)values)[i] *= -1; break;
		case PE_F32: ((float *)values)[i] *= -1; break;
		default: ((uint16_t *)values)[i] ^= 0x8000; break;
		}
	}
}

/* A real zero has no sign, and M_0 is the identity in both readings. */
static void
drop_signs_of_zeros(enum pe_elem elem, void *values, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		switch (elem) {
		case PE_F64: ((double *)values)[i] += 0.0; break;
		case PE_F32: ((float *)values)[i] += 0.0F; break;
		default:
			if (((uint16_t *)values)[i] == 0x8000)
				((uint16_t *)values)[i] = 0;
		}
	}
}

static int
fill(struct pe_shift *s, const struct pe_convention *c, double k, struct pe_error *e)
{
	const size_t pairs = s->columns.pairs, size = pe_elem_size(s->elem);
	const struct pe_turn_layout layout = {
	    .cosine = pairs,
	    .step = 1,
	    .sines = pairs,
	    .cosines = pairs,
	    .row = 2 * pairs,
	};
	struct pe_convention_turn engine;
	size_t bytes;

	if (pe_num_matrix_size(3, pairs, size, &bytes, e))
		return -1;
	if ((s->sines = malloc(bytes)) == NULL)
		return pe_fail_memory(e);
	s->cosines = (char *)s->sines + pairs * size;
	s->negated = (char *)s->cosines + pairs * size;
	if (pe_convention_turn_init(&engine, c, &s->columns, 0, e))
		return -1;
	pe_turn_rows_at(engine.turn, &k, 1, s->elem, &layout, s->sines);
	pe_convention_turn_free(&engine);
	const size_t big = pe_elem_infinity(s->elem, s->sines, 2 * pairs);
	if (big < 2 * pairs)
		return pe_fail(e, PE_FAULT_DATA, "pair %zu: the shift's values overflow %s",
			       big % pairs, pe_elem_name(s->elem));
	memcpy(s->negated, s->sines, pairs * size);
	negate(s->elem, s->negated, pairs);
	drop_signs_of_zeros(s->elem, s->sines, 3 * pairs);
	return 0;
}

int
pe_shift_init(struct pe_shift **s, const struct pe_convention *c, size_t dim, double k,
	      enum pe_elem elem, struct pe_error *e)
{
	struct pe_columns columns;

	if (dim == 0 || dim % 2 != 0)
		return pe_fail(e, PE_FAULT_ARGUMENT, "width must be even: '%zu'", dim);
	if (!(fabs(k) <= (double)PE_POSITION_MAX))
		return pe_fail(e, PE_FAULT_ARGUMENT, "shift beyond 2^53: '%.17g'", k);
	if (pe_convention_columns(c, dim, &columns, e))
		return -1;
	struct pe_shift *made = calloc(1, sizeof *made);
	if (made == NULL)
		return pe_fail_memory(e);
	made->columns = columns;
	made->elem = elem;
	if (fill(made, c, k, e)) {
		pe_shift_free(made);
		return -1;
	}
	*s = made;
	return 0;
}

void
pe_shift_free(struct pe_shift *s)
{
	if (s == NULL)
		return;
	free(s->sines);
	free(s);
}

void
pe_shift_rows(const struct pe_shift *s, size_t from, size_t n, void *out)
{
	const struct pe_turn_layout *l = &s->columns.layout;
	const size_t size = pe_elem_size(s->elem), width = s->columns.dim * size;
	char *row = out;

	if (n == 0)
		return;
	memset(out, 0, n * width);
	for (size_t r = from; r < from + n; r++, row += width) {
		const struct pe_column column = pe_convention_column(&s->columns, r);
		const bool sine = column.kind == PE_COLUMN_SINE;
		const size_t same = sine ? l->sine : l->cosine, other = sine ? l->cosine : l->sine;
		const char *off = sine ? s->sines : s->negated;
		const size_t i = column.pair;

		memcpy(row + (same + i * l->step) * size, (char *)s->cosines + i * size, size);
		memcpy(row + (other + i * l->step) * size, off + i * size, size);
	}
}

/* One row of sine and cosine columns `step` apart. */
static void
turn_row(size_t pairs, size_t step, const double *sines, const double *cosines, const double *s,
	 const double *c, double *s_out, double *c_out)
{
	for (size_t i = 0; i < pairs; i++) {
		const double x = s[i * step], y = c[i * step];

		s_out[i * step] = x * cosines[i] + y * sines[i];
		c_out[i * step] = y * cosines[i] - x * sines[i];
	}
}

void
pe_shift_apply(const struct pe_shift *s, size_t n, const double *in, double *out)
{
	const struct pe_turn_layout *l = &s->columns.layout;

	for (size_t r = 0; r < n; r++, in += l->row, out += l->row)
		turn_row(s->columns.pairs, l->step, s->sines, s->cosines, in + l->sine,
			 in + l->cosine, out + l->sine, out + l->cosine);
}
